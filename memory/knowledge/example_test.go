package knowledge_test

import (
	"context"
	"fmt"
	"log"

	"github.com/holdfast-go/holdfast/memory/knowledge"
)

func Example() {
	ctx := context.Background()
	store, err := knowledge.NewMemory(knowledge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	err = store.Index(ctx, "acme", knowledge.Document{
		ID: "travel", Version: "2026-01", Title: "Travel rules", Roles: []string{"staff"},
		Text: "# Hotels\n\nA hotel is paid up to 500 yuan a night.\n\n# 餐饮\n\n餐饮每天可报销100元。",
	})
	if err != nil {
		log.Fatal(err)
	}
	reader, err := knowledge.NewReader("acme", "staff") // from the authenticated request
	if err != nil {
		log.Fatal(err)
	}
	for _, q := range []string{"How much may a hotel cost?", "餐饮一天能报多少钱？", "How much may a helicopter cost?", "What may a hotel cost, and how long may I stay?"} {
		a, err := store.Retrieve(ctx, reader, knowledge.Query{Text: q})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(q)
		for _, c := range a.Chunks {
			fmt.Printf("  %s: %s\n", c.ID, c.Text)
		}
		for _, p := range a.Aspects {
			if p.Chunk == "" {
				fmt.Printf("  the documents do not say: %s\n", p.Text)
			}
		}
	}
	// Output:
	// How much may a hotel cost?
	//   travel@2026-01#1: A hotel is paid up to 500 yuan a night.
	// 餐饮一天能报多少钱？
	//   travel@2026-01#2: 餐饮每天可报销100元。
	// How much may a helicopter cost?
	//   the documents do not say: How much may a helicopter cost?
	// What may a hotel cost, and how long may I stay?
	//   travel@2026-01#1: A hotel is paid up to 500 yuan a night.
	//   the documents do not say: how long may I stay?
}

func ExampleStore_Paths() {
	ctx := context.Background()
	store, err := knowledge.NewMemory(knowledge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	catalogue := knowledge.Document{ID: "services", Version: "1", Text: "Our services.", Roles: []string{knowledge.Everyone}}
	if err := store.Index(ctx, "acme", catalogue); err != nil {
		log.Fatal(err)
	}
	err = store.Relate(ctx, "acme", "services",
		knowledge.Relation{From: "checkout", Name: "depends on", To: "payment-api"},
		knowledge.Relation{From: "payment-api", Name: "depends on", To: "payment-db"},
	)
	if err != nil {
		log.Fatal(err)
	}
	reader, err := knowledge.NewReader("acme")
	if err != nil {
		log.Fatal(err)
	}
	paths, err := store.Paths(ctx, reader, "payment-db", true, 3) // who is hit when it fails?
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range paths {
		fmt.Println(p)
	}
	// Output:
	// payment-api --depends on--> payment-db
	// checkout --depends on--> payment-api --depends on--> payment-db
}
