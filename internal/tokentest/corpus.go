package tokentest

import (
	"embed"
	"fmt"
	"math/rand/v2"
	"strings"
)

//go:embed text
var files embed.FS

// A Corpus is a number of texts of one kind.
type Corpus struct {
	Name  string
	Texts []string
}

// Own returns the texts of this package, the same in every call.
func Own() []Corpus {
	entries, err := files.ReadDir("text")
	if err != nil {
		panic(err) // they are compiled in
	}
	var all []Corpus
	for _, e := range entries {
		b, err := files.ReadFile("text/" + e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, Corpus{strings.TrimSuffix(e.Name(), ".txt"), []string{string(b)}})
	}
	return append(all, Corpus{"logs", made(log)}, Corpus{"json", made(document)})
}

// Chunks cuts texts into pieces of so many runes, a new one every step runes. What is shorter than a piece is left out.
func (c Corpus) Chunks(runes, step int) []string {
	var chunks []string
	for _, text := range c.Texts {
		all := []rune(text)
		for start := 0; start+runes <= len(all); start += step {
			chunks = append(chunks, string(all[start:start+runes]))
		}
	}
	return chunks
}

// Half returns every second text, the first or the second ones.
func (c Corpus) Half(second bool) Corpus {
	half := Corpus{Name: c.Name}
	for i, text := range c.Texts {
		if (i%2 == 1) == second {
			half.Texts = append(half.Texts, text)
		}
	}
	return half
}

// made returns twenty texts of about 4,000 characters, written line by line.
func made(line func(*rand.Rand) string) []string {
	texts := make([]string, 20)
	for i := range texts {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		var b strings.Builder
		for b.Len() < 4000 {
			b.WriteString(line(r))
		}
		texts[i] = b.String()
	}
	return texts
}

func pick(r *rand.Rand, words ...string) string { return words[r.IntN(len(words))] }

func log(r *rand.Rand) string {
	at := fmt.Sprintf("2025-%02d-%02dT%02d:%02d:%02d.%03dZ", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000))
	level := pick(r, "INFO", "INFO", "INFO", "WARN", "ERROR", "DEBUG")
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("%s %s [order-service] trace=%016x span=%08x POST /api/v1/orders/%d status=%d latency=%dms\n",
			at, level, r.Uint64(), r.Uint32(), r.IntN(99999), pickInt(r, 200, 201, 404, 500, 504), r.IntN(3000))
	case 1:
		return fmt.Sprintf("%s %s com.example.billing.InvoiceWorker - retry %d/5 for job %s: connection refused (10.%d.%d.%d:5432)\n",
			at, level, r.IntN(6), uuid(r), r.IntN(256), r.IntN(256), r.IntN(256))
	case 2:
		return fmt.Sprintf("10.0.%d.%d - - [%02d/Mar/2025:%02d:%02d:%02d +0000] \"GET /assets/app.%08x.js HTTP/1.1\" 200 %d \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"\n",
			r.IntN(256), r.IntN(256), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.Uint32(), r.IntN(1<<20))
	case 3:
		return fmt.Sprintf("%s %s msg=\"payment %s\" user_id=u_%d amount=%d.%02d currency=%s attempt=%d\n",
			at, level, pick(r, "accepted", "declined", "timed out", "refunded"), r.IntN(1<<20), r.IntN(5000), r.IntN(100), pick(r, "EUR", "USD", "CNY"), r.IntN(4))
	case 4:
		return fmt.Sprintf("E%02d%02d %02d:%02d:%02d.%06d   %5d reflector.go:%d] Failed to watch *v1.%s: context deadline exceeded\n",
			1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1e6), r.IntN(99999), r.IntN(900), pick(r, "Pod", "ConfigMap", "Endpoints"))
	}
	return fmt.Sprintf("panic: runtime error: index out of range [%d] with length %d\n\tgithub.com/example/shop/cart.(*Cart).Total(0x%x)\n\t\t/src/cart/cart.go:%d +0x%x\n",
		r.IntN(50), r.IntN(50), 0xc000000000+r.Uint64N(1<<32), r.IntN(900), r.IntN(4096))
}

func document(r *rand.Rand) string {
	switch r.IntN(4) {
	case 0:
		return fmt.Sprintf(`{"id":"%s","customer":{"name":"%s","email":"%s@example.com","vip":%t},"items":[{"sku":"SKU-%05d","qty":%d,"price":%d.%02d}],"created_at":"2025-%02d-%02dT%02d:%02d:%02dZ"}`+"\n",
			uuid(r), pick(r, "Anna Schmidt", "Li Wei", "John Carter"), pick(r, "anna", "liwei", "john.c"), r.IntN(2) == 0, r.IntN(99999), r.IntN(9), r.IntN(900), r.IntN(100),
			1+r.IntN(12), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60))
	case 1:
		return fmt.Sprintf("{\n  \"status\": \"%s\",\n  \"node\": {\n    \"hostName\": \"worker-%02d.internal\",\n    \"cpuPercent\": %d.%d,\n    \"memoryBytes\": %d,\n    \"labels\": [\"zone-%s\", \"spot\"]\n  },\n  \"lastError\": null\n}\n",
			pick(r, "ok", "degraded", "unreachable"), r.IntN(40), r.IntN(100), r.IntN(10), r.Uint64N(1<<35), pick(r, "a", "b", "c"))
	case 2:
		return fmt.Sprintf(`{"type":"object","properties":{"order_id":{"type":"string","description":"%s"},"limit":{"type":"integer","minimum":1,"maximum":%d}},"required":["order_id"]}`+"\n",
			pick(r, "The id of the order, as the customer sees it.", "Which order to look at.", "订单编号，例如 A-1024"), r.IntN(1000))
	}
	return fmt.Sprintf(`{"columns":["date","region","revenue","margin"],"rows":[["2025-%02d-01","%s",%d,0.%03d],["2025-%02d-01","%s",%d,0.%03d]],"truncated":%t}`+"\n",
		1+r.IntN(12), pick(r, "EMEA", "华东", "North America"), r.IntN(9e6), r.IntN(1000), 1+r.IntN(12), pick(r, "APAC", "华南"), r.IntN(9e6), r.IntN(1000), r.IntN(2) == 0)
}

func pickInt(r *rand.Rand, n ...int) int { return n[r.IntN(len(n))] }

func uuid(r *rand.Rand) string {
	a, b := r.Uint64(), r.Uint64()
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&0xffffffffffff)
}
