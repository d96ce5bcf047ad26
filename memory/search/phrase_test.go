package search_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/memory/search"
)

// Report 169: a part of a Chinese text, as it stands there, finds that text, and nearly always first, among others that have all but a few of its characters.
func TestChinesePhrase(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(169, 1))
	pick := func(words string) string { f := strings.Fields(words); return f[r.IntN(len(f))] }
	rows, seen := search.NewMap(), map[string]bool{}
	var docs []search.Doc
	for len(docs) < 300 {
		text := pick("用户 张经理 李工 值班同学 财务部 客服组 王老师 运维组") + pick("昨天 上周五 今天早上 三月初 去年底 下班前") + pick("重启了 回滚了 检查了 升级了 迁移了 关闭了") +
			pick("支付服务 订单接口 消息队列 缓存集群 日志平台 网关") + "，" + pick("因为磁盘满了 因为响应太慢 为了发布新版本 为了省钱 按客户的要求") + pick("。 ，暂时没有影响。 ，大家都知道了。")
		if !seen[text] {
			seen[text] = true
			docs = append(docs, search.Doc{No: uint32(len(docs) + 1), Text: text})
		}
	}
	if err := search.Add(t.Context(), rows, "s", docs...); err != nil {
		t.Fatal(err)
	}
	first := 0
	for _, d := range docs {
		text := []rune(d.Text)
		from := r.IntN(4)
		phrase := string(text[from : from+12+r.IntN(len(text)-from-12)])
		hits, err := search.Search(t.Context(), rows, []string{"s"}, search.Query{Text: phrase, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(hits, func(h search.Hit) bool { return strings.Contains(docs[h.No-1].Text, phrase) })
		if at < 0 {
			t.Errorf("%q of %q is not found", phrase, d.Text)
		}
		if at == 0 {
			first++
		}
	}
	if least := 95 * len(docs) / 100; first < least {
		t.Errorf("%d of %d are found first, want %d", first, len(docs), least)
	}
}
