package session_test

import (
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/session"
	"pgregory.net/rapid"
)

// T22, R124: what counts as an explicit confirmation.
func TestReply(t *testing.T) {
	t.Parallel()
	for want, texts := range map[session.Verdict][]string{
		session.Yes: {
			"好的", "好", "好的。", " 好的！ ", "对", "对的", "对，是的", "嗯，对", "嗯对", "是", "是的", "是啊", "可以", "可以的", "行", "没错", "没问题", "确认", "ＯＫ", "好的👍",
			"好的，谢谢", "好的 谢谢", "yes", "Yes.", "YES!", "yes, please", "yes please", "Yes, that's right.", "that’s right", "ok", "OK, thanks", "okay", "sure",
			"go ahead", "Yes go ahead", "correct", "confirm", "please do it", "yeah yeah",
		},
		session.No: {
			"不", "不是", "不是的", "不对", "不用", "不用了，谢谢", "不要", "不行", "算了", "取消", "不可以", "no", "No.", "nope", "no, thanks", "no thanks", "don't", "don’t do it",
			"cancel", "No, that's wrong", "not that one", "no no",
		},
		session.Unclear: {
			"", " ", "。", "👍", "是嘛", "可以嘛", "行嘛", "不是嘛", "是哦", "ok 🙅", "好的❌", "好的 🚫️", "yes 🤔", "嗯", "谢谢", "thanks", "好的，但是先等等", "好的，改成生产环境", "可以吗", "可以？", "是吗？", "yes?", "不是不可以", "对不起", "对了", "行了", "好，不用了",
			"yes and no", "yes, no", "ok no", "yes but restart it first", "yes, use production instead", "not sure", "I said yes yesterday", "no problem with that one?",
			"是生产环境", "不要重启", "可以重启生产实例", "okay let me think", "好像是", "是不是", "对不对", "要不要", "yesterday", strings.Repeat("好的，", 500),
		},
	} {
		for _, text := range texts {
			if got := session.Reply(text); got != want {
				t.Errorf("Reply(%.60q) = %v; want %v", text, got, want)
			}
		}
	}
}

// More to it than a yes is never a yes, whatever it is.
func TestReplyWithMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		more := rapid.StringMatching(`[重启生产实例备份日志a-z]{4,20}`).Draw(t, "more")
		said := rapid.SampledFrom([]string{"好的", "是的", "不用", "yes", "no"}).Draw(t, "said")
		if session.Reply(more) != session.Unclear {
			t.Skip("a word that is an answer")
		}
		for _, text := range []string{said + "，" + more, more + "，" + said, said + ", " + more, said + more} {
			if got := session.Reply(text); got != session.Unclear {
				t.Fatalf("Reply(%q) = %v", text, got)
			}
		}
	})
}

func FuzzReply(f *testing.F) {
	for _, s := range []string{"", "好的", "\xff", "yes ", "嗯嗯嗯", "please please please", "\u3000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if v := session.Reply(text); v > session.No || v.String() == "" {
			t.Errorf("Reply(%q) = %d", text, v)
		}
	})
}
