package main

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
)

func TestParseWish(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Request{
		"latest":                                 {},
		"Latest":                                 {},
		"my latest order":                        {},
		"1005":                                   {Order: "1005"},
		"#1005":                                  {Order: "1005"},
		"1005 35":                                {Order: "1005", Amount: 35_00},
		"1005 35.50":                             {Order: "1005", Amount: 35_50},
		"1005, 35.5, one bulb flickers":          {Order: "1005", Amount: 35_50, Reason: "one bulb flickers"},
		"1005 one bulb flickers":                 {Order: "1005", Reason: "one bulb flickers"},
		"latest 35 one bulb flickers":            {Amount: 35_00, Reason: "one bulb flickers"},
		"latest ¥1280 wrong colour":              {Amount: 1280_00, Reason: "wrong colour"},
		"refund 1005 because it is broken":       {Order: "1005", Reason: "it is broken"},
		"Please refund order 1005: too bright":   {Order: "1005", Reason: "too bright"},
		"latest, 35 yuan, one of 2 bulbs":        {Amount: 35_00, Reason: "one of 2 bulbs"},
		"it is broken, refund my latest order":   {Reason: "it is broken, refund"},
		"最近一单":                                   {},
		"退最近一单，灯罩破了":                             {Reason: "灯罩破了"},
		"最近一单 35元 灯泡坏了":                          {Amount: 35_00, Reason: "灯泡坏了"},
		"1005 退35.5块钱，灯泡坏了":                      {Order: "1005", Amount: 35_50, Reason: "灯泡坏了"},
		"我要退款 1005，原因：不喜欢":                       {Order: "1005", Reason: "不喜欢"},
		"订单1005 ￥35":                             {Order: "1005", Amount: 35_00},
		"1005 1005":                              {Order: "1005"},
		"1005 ordinary wear":                     {Order: "1005", Reason: "ordinary wear"},
		"1002 the cup of 2 has a crack, see 3.5": {Order: "1002", Reason: "the cup of 2 has a crack, see 3.5"},
	} {
		want.Customer = "lin"
		got, err := parseWish("lin", in)
		if in == "1005 1005" { // the number said twice stays in the reason
			want.Reason = "1005"
		}
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", in, got, err, want)
		}
	}
}

func TestParseWishAsksAgain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"hello":                       "Which order?",
		"35":                          "Which order?",
		"¥35":                         "Which order?",
		"1005 0":                      `"0" is not an amount`,
		"1005 -5":                     `"-5" is not an amount`,
		"1005 ¥-5":                    `"¥-5" is not an amount`,
		"1005 -¥5":                    `"-¥5" is not an amount`,
		"1005 35.555":                 `"35.555" is not an amount`,
		"1005 ¥abc":                   `"¥abc" is not an amount`,
		"1005 $35":                    "Amounts are in yuan",
		"1005 1002":                   "1005 or 1002",
		"latest 1280":                 "latest or 1280",
		"1005 ¥3 ¥4":                  "more than one amount",
		"1005 \x1b[31mred":            "not text",
		"1005 " + longText(201):       "more than 200",
		"1005 99999999999999999999.9": "is not an amount",
	} {
		_, err := parseWish("lin", in)
		m, ok := errors.AsType[*mistake](err)
		if !ok || !strings.Contains(m.en, want) {
			t.Errorf("%q: %v; want %q", in, err, want)
			continue
		}
		if !strings.ContainsFunc(m.zh, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%q: the Chinese text is %q", in, m.zh)
		}
	}
}

func longText(n int) string { return strings.Repeat("坏", n) }

// Whatever is typed: no panic, and a wish that is understood can be sent to the shop.
func FuzzParseWish(f *testing.F) {
	for _, s := range []string{"latest", "1005 35 broken", "退最近一单，灯坏了 35元", "#1005 -¥5", "￥", "1005 \x00 3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		w, err := parseWish("lin", line)
		if err != nil {
			if _, ok := errors.AsType[*mistake](err); !ok {
				t.Fatalf("%q: %v is not a mistake", line, err)
			}
			return
		}
		if w.Amount < 0 || w.Amount > shop.MaxMoney || strings.ContainsFunc(w.Reason, unicode.IsControl) {
			t.Fatalf("%q: %+v", line, w)
		}
	})
}
