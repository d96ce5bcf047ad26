package jsonschema

import (
	"cmp"
	"strconv"
	"strings"
)

// isInteger reports whether a JSON number is written as encoding/json reads into a Go integer: no fraction, no exponent.
// Minus zero is refused, because no integer is written so.
func isInteger(n string) bool {
	return !strings.ContainsAny(n, ".eE") && n != "-0"
}

// compare orders two JSON numbers. Two integers are compared exactly, whatever their length.
func compare(a, b string) int {
	if isInteger(a) && isInteger(b) {
		return compareIntegers(a, b)
	}
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return cmp.Compare(x, y)
}

func compareIntegers(a, b string) int {
	negA, negB := a[0] == '-', b[0] == '-'
	if negA != negB {
		if negA {
			return -1
		}
		return 1
	}
	if negA {
		a, b = b[1:], a[1:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// inFloat64 reports whether a JSON number can be read into a float64.
func inFloat64(n string) bool {
	_, err := strconv.ParseFloat(n, 64)
	return err == nil
}
