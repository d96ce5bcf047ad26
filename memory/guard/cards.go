package guard

import "strings"

// cards finds card numbers: digits, alone or in groups, with the beginning of an issuer, its length, and the right check digit
// (Luhn's: ISO/IEC 7812-1, annex B). A number that is called that of an order is one, unless it is in groups.
func (s source) cards() (out []Finding) {
	for i := 0; i < len(s.text); {
		if !digit(s.text[i]) {
			i++
			continue
		}
		group := run(s.text, i, len(s.text), digit)
		end := 0
		if i == 0 || !alnum(s.text[i-1]) && strings.IndexByte("_.#", s.text[i-1]) < 0 {
			end = s.card(i)
		}
		if end > 0 && (end > group || !s.counted(i)) {
			out = append(out, Finding{"card number", i, end})
			group = end
		}
		i = group
	}
	return out
}

const maxCard = 40 // bytes that a card number may take

// card returns where a card number that begins at a place ends: the longest that is one, of digits with at most one space or dash between
// two; 0 if there is none.
func (s source) card(from int) (end int) {
	var digits []byte
	for i := from; i < len(s.text) && i < from+maxCard; i++ {
		c := s.text[i]
		if !digit(c) && (c != ' ' && c != '-' || !digit(s.text[i-1])) {
			break
		}
		if digit(c) {
			digits = append(digits, c)
		}
		if last := i+1 == len(s.text); digit(c) && (last || !alnum(s.text[i+1]) && s.text[i+1] != '_') && issued(string(digits)) && luhn(string(digits)) {
			end = i + 1
		}
	}
	return end
}

// issued reports whether digits begin and are as long as those of an issuer.
func issued(d string) bool {
	n := len(d)
	if n < 13 || n > 19 {
		return false
	}
	two, four := d[:2], d[:4]
	switch {
	case d[0] == '4':
		return n == 13 || n == 16 || n == 19
	case two >= "51" && two <= "55", four >= "2221" && four <= "2720":
		return n == 16
	case two == "34", two == "37":
		return n == 15
	case four >= "3528" && four <= "3589", four == "6011", two == "65", four >= "6440" && four <= "6499":
		return n >= 16
	case two == "62", two == "81": // UnionPay
		return n >= 16
	case two == "36", two == "38", two == "30":
		return n == 14
	}
	return false
}

func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0 && strings.Trim(d, d[:1]) != ""
}

// counted reports whether the words before a number say that it counts orders, parcels or the like.
func (s source) counted(at int) bool {
	before := s.lower[max(0, at-30):at]
	for _, w := range []string{"订单", "单号", "编号", "流水", "快递", "运单", "工单", "order", "tracking", "parcel", "shipment", "invoice", "ticket", "trace", "request", "id:", "id ", "id=", "\"id\""} {
		if strings.Contains(before, w) {
			return true
		}
	}
	return false
}
