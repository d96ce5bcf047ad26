package pin

import (
	"strings"
	"unicode"
)

// fold returns the one form in which runes are compared: narrow, lower case, simplified, without dress. It is -1 for a
// rune that shows nothing, such as a zero-width space. It does what NFKC does where a word could hide, and two things that NFKC
// does not: traditional characters, and Cyrillic and Greek letters that look Latin.
func fold(r rune) rune {
	switch {
	case r < unicode.MaxASCII:
		return unicode.ToLower(r)
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		return unicode.ToLower(r - 0xFEE0)
	case r == 0x3000, r == 0x00A0, r >= 0x2000 && r <= 0x200A:
		return ' '
	case r == 0x2019, r == 0x02BC: // apostrophes
		return '\''
	case r >= 0x2010 && r <= 0x2015, r == 0x2212: // hyphens and dashes
		return '-'
	case r >= 0x1D400 && r <= 0x1D6A3: // mathematical letters: 13 alphabets of 52
		return 'a' + (r-0x1D400)%26
	case r >= 0x24B6 && r <= 0x24E9: // circled letters
		return 'a' + (r-0x24B6)%26
	case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me, unicode.Cs, unicode.Co):
		return -1
	}
	if to, ok := alike[r]; ok {
		return to
	}
	return unicode.ToLower(r)
}

// foldText folds a text.
func foldText(s string) string { return strings.Map(fold, s) }

// alike maps traditional characters of the words that are recognised, and letters that look like Latin ones.
var alike = pairs("刪删別别重重啟启啓启動动庫库線线產产實实執执環环測测試试開开發发們们應应該该準准許许請请讓让嗎吗麼么為为什什誰谁說说" +
	"話话電电給给對对經经過过審审認认確确問问總总結结論论證证據据後后從从現现須须務务終终殺杀銷销毀毁關关閉闭機机" +
	"擴扩縮缩變变調调寫写覆覆創创新新創创添添買买購购訂订單单轉转帳账賬账匯汇錢钱還还郵邮訊讯寄寄達达聯联繫系係系擾扰運运" +
	"遷迁併并並并導导傳传備备復复權权撤撤銷销凍冻結结鎖锁戶户務务庫库檔档數数據据錄录項项專专區区價价貨货貨货據据網网頁页" +
	"報报錯错誤误憶忆記记忘忘規规則则條条來来時时間间無无論论樣样絕绝誠诚萬万個个這这裡里裏里邊边麗丽當当簡简詳详體体與与" +
	"風风險险處处業业員员師师經经濟济領领導导議议題题隨随擅擅輕轻亂乱剛刚離离遠远碰碰觸触維维護护穩稳態态優优級级預预製制" +
	"會会還还沒没見见覺觉擔担緊紧張张氣气麻烦煩烦難难謝谢親亲類类識识離离屬属愛爱聽听懂懂東东點点種种樓楼車车長长門门" +
	"語语繁繁顯显標标題题圖图回回覆复答答徵征詢询嚴严禁禁絡络週周號号幫帮顧顾願愿圍围鍵键訪访讀读視视歷历隱隐約约" +
	"аaеeоoрpсcуyхxкkмmнhтtвbіiѕsԁdοoαaρpνv")

func pairs(s string) map[rune]rune {
	m := map[rune]rune{}
	runes := []rune(s)
	for i := 0; i+1 < len(runes); i += 2 {
		if runes[i] != runes[i+1] {
			m[runes[i]] = runes[i+1]
		}
	}
	return m
}
