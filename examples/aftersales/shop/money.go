package shop

import (
	"fmt"
	"strconv"
	"strings"
)

// Money is an amount in fen, a hundredth of a yuan. It is a whole number, so sums are exact.
type Money int64

// MaxMoney is the largest amount that the service takes in one request: ten million yuan.
const MaxMoney Money = 1_000_000_000

// String writes the amount as people read it: ¥480.00.
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	return fmt.Sprintf("%s¥%d.%02d", sign, m/100, m%100)
}

// ParseMoney reads a positive amount in yuan with at most two decimals: "480", "35.5", "¥35.50", "35.50元". The full
// width sign ￥ is read as well.
func ParseMoney(s string) (Money, error) {
	t := strings.TrimSpace(s)
	t = strings.TrimPrefix(strings.TrimPrefix(t, "¥"), "￥")
	t = strings.TrimSpace(strings.TrimSuffix(t, "元"))
	yuan, fen, dotted := strings.Cut(t, ".")
	if !digits(yuan) || dotted && (!digits(fen) || len(fen) > 2) || len(yuan) > 8 {
		return 0, fmt.Errorf("%q is not an amount such as 35 or 35.50, up to %v", s, MaxMoney)
	}
	n, err := strconv.ParseInt(yuan+(fen + "00")[:2], 10, 64)
	if err != nil {
		return 0, err
	}
	if m := Money(n); m > 0 && m <= MaxMoney {
		return m, nil
	}
	return 0, fmt.Errorf("the amount %q is not between ¥0.01 and %v", s, MaxMoney)
}

// digits reports whether s is one ASCII digit or more.
func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
