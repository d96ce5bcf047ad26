package main

import (
	"github.com/holdfast-go/holdfast/examples/aftersales/shop"
	"github.com/holdfast-go/holdfast/nodes"
)

// A dialogue is a story between a customer, the agent and a colleague, as data.
type dialogue struct {
	name   string
	turns  []turn
	ledger []paid // what the shop has paid at the end, beside what it was born with
	facts  []string
}

// A turn is what happens next.
type turn struct {
	fresh   bool                      // a new conversation begins
	days    int                       // that pass before
	restart bool                      // another process goes on
	says    string                    // the customer; empty: nobody says anything, decisions alone
	cancel  bool                      // the run is ended for good while the shop keeps the answer to a payment back
	decides map[string]nodes.Decision // by the number of the order that a question is about
	by      string                    // who decides; empty: the colleague
	hears   []string                  // texts of the answer; none: there is no answer, or none yet
	lacks   string                    // a text that the answer must not have
	uses    []string                  // tools, in the order in which they are called; nil: any
}

// A paid is a payment.
type paid struct {
	order  string
	amount shop.Money
}

func approves(order string) map[string]nodes.Decision {
	return map[string]nodes.Decision{order: nodes.Approve()}
}

// dialogues are the stories of the example. In each pair the second is the first one in Chinese.
var dialogues = []dialogue{
	{"the story", []turn{
		{says: "Where is my latest order?", hears: []string{"Order 1005", "standing lamp", "was delivered on 2026-03-12"}},
		{restart: true, says: "Then refund it, because it is too bright."},
		{restart: true, decides: approves("1005"), hears: []string{"Done: refund R-2 of ¥480.00 for order 1005"}},
		{restart: true, fresh: true, days: 3, says: "Did that refund arrive?", uses: []string{"refund_status"},
			hears: []string{"Yes: refund R-2 of ¥480.00 for order 1005 arrived on 2026-03-16"}},
	}, []paid{{"1005", 480_00}}, []string{`order "1005"`, `order "1005"`, `refund {"id":"R-2","order":"1005","amount":"¥480.00"}`}},
	{"主线", []turn{
		{says: "我最近的订单到哪了？", hears: []string{"订单 1005", "落地灯", "已于 2026-03-12 送达"}},
		{restart: true, says: "那帮我退了吧，因为太亮了。"},
		{restart: true, decides: approves("1005"), hears: []string{"退款 R-2，¥480.00，订单 1005"}},
		{restart: true, fresh: true, days: 3, says: "那笔退款到账了吗？", uses: []string{"refund_status"},
			hears: []string{"到了：退款 R-2", "已于 2026-03-16 到账"}},
	}, []paid{{"1005", 480_00}}, []string{`order "1005"`, `order "1005"`, `refund {"id":"R-2","order":"1005","amount":"¥480.00"}`}},

	{"below the limit", []turn{
		{says: "Where is order 1002?", hears: []string{"pair of tea cups"}},
		{says: "Please refund ¥30 of it.", hears: []string{"Done: refund R-2 of ¥30.00 for order 1002"}},
		{days: 1, says: "Has the refund arrived?", hears: []string{"Not yet: refund R-2", "by 2026-03-16"}},
	}, []paid{{"1002", 30_00}}, []string{`order "1002"`, `order "1002"`, `refund {"id":"R-2","order":"1002","amount":"¥30.00"}`}},
	{"限额以内", []turn{
		{says: "查一下订单 1002", hears: []string{"茶杯一对"}},
		{says: "退 30 元。", hears: []string{"办好了：退款 R-2，¥30.00，订单 1002"}},
		{days: 1, says: "退款到账了吗？", hears: []string{"还没有：退款 R-2", "2026-03-16"}},
	}, []paid{{"1002", 30_00}}, []string{`order "1002"`, `order "1002"`, `refund {"id":"R-2","order":"1002","amount":"¥30.00"}`}},

	{"edited to less", []turn{
		{says: "Refund my latest order.", decides: map[string]nodes.Decision{"1005": nodes.Edit([]byte(`{"order":"1005","amount":"100"}`))},
			hears: []string{"Done: refund R-2 of ¥100.00 for order 1005"}},
	}, []paid{{"1005", 100_00}}, []string{`order "1005"`, `order "1005"`, `refund {"id":"R-2","order":"1005","amount":"¥100.00"}`}},
	{"改成更少", []turn{
		{says: "把我最近的订单退了。", decides: map[string]nodes.Decision{"1005": nodes.Edit([]byte(`{"order":"1005","amount":"100"}`))},
			hears: []string{"办好了：退款 R-2，¥100.00，订单 1005"}},
	}, []paid{{"1005", 100_00}}, []string{`order "1005"`, `order "1005"`, `refund {"id":"R-2","order":"1005","amount":"¥100.00"}`}},

	{"rejected", []turn{
		{says: "Refund order 1005.", decides: map[string]nodes.Decision{"1005": nodes.Reject("the lamp was used for a year")},
			hears: []string{"1005: that did not work", "the lamp was used for a year"}},
		{says: "Did that refund arrive?", hears: []string{"R-1"}}, // the only one there is
	}, nil, nil},
	{"被拒绝", []turn{
		{says: "订单 1005 退款。", decides: map[string]nodes.Decision{"1005": nodes.Reject("灯已经用了一年")}, hears: []string{"1005：没有办成", "灯已经用了一年"}},
		{says: "退款到账了吗？", hears: []string{"R-1"}},
	}, nil, nil},

	{"not without asking me", []turn{
		{says: "Don't refund anything without asking me.", hears: []string{"Understood", "Not without the user's word: refund"}},
		{restart: true, says: "Refund order 1002."},
		{decides: approves("1002"), by: "lin", hears: []string{"Done: refund R-2 of ¥68.00"}},
	}, []paid{{"1002", 68_00}}, []string{`order "1002"`, `refund {"id":"R-2","order":"1002","amount":"¥68.00"}`}},
	{"先问我", []turn{
		{says: "没有我的同意不要退款。", hears: []string{"明白", "未经用户同意不得退款"}},
		{restart: true, says: "退掉订单 1002。"},
		{decides: approves("1002"), by: "lin", hears: []string{"办好了：退款 R-2，¥68.00"}},
	}, []paid{{"1002", 68_00}}, []string{`order "1002"`, `refund {"id":"R-2","order":"1002","amount":"¥68.00"}`}},

	{"two orders at once", []turn{
		{says: "Where are my orders 1000 and 1002?", hears: []string{"Order 1000", "is on its way and should arrive on 2026-03-16", "Order 1002", "was delivered"}},
		{says: "Refund it.", hears: []string{"Which order do you mean?"}},
		{says: "Refund orders 1002 and 1005.", decides: approves("1005"), hears: []string{"for order 1002", "for order 1005"}},
	}, []paid{{"1002", 68_00}, {"1005", 480_00}}, nil},
	{"同时问两单", []turn{
		{says: "订单 1000 和 1002 到哪了？", hears: []string{"订单 1000", "预计 2026-03-16 送达", "订单 1002", "送达"}},
		{says: "退了吧。", hears: []string{"请问是哪个订单"}},
		{says: "订单 1002 和 1005 都退款。", decides: approves("1005"), hears: []string{"订单 1002", "订单 1005"}},
	}, []paid{{"1002", 68_00}, {"1005", 480_00}}, nil},

	{"somebody else's order", []turn{
		{says: "Where is order 1004?", hears: []string{"1004: that did not work", "no such order"}},
		{says: "Refund order 1004.", hears: []string{"1004: that did not work", "no such order"}},
	}, nil, nil},
	{"别人的订单", []turn{
		{says: "订单 1004 到哪了？", hears: []string{"1004：没有办成", "没有这个订单"}},
		{says: "退掉订单 1004。", hears: []string{"1004：没有办成", "没有这个订单"}},
	}, nil, nil},

	{"ended in the middle", []turn{
		{says: "Refund order 1002.", cancel: true},
		{says: "So, refund it.", hears: []string{"Not yet: refund R-2 of ¥68.00 for order 1002 is on its way"}}, // and does not pay again
		{days: 2, says: "Did it go through?", hears: []string{"Yes: refund R-2"}},
	}, []paid{{"1002", 68_00}}, nil},
	{"中途停止", []turn{
		{says: "退掉订单 1002。", cancel: true},
		{says: "那就退吧。", hears: []string{"还没有：退款 R-2，¥68.00，订单 1002"}},
		{days: 2, says: "到账了吗？", hears: []string{"到了：退款 R-2"}},
	}, []paid{{"1002", 68_00}}, nil},

	{"said while approval waits", []turn{
		{says: "Refund my latest order."},
		{restart: true, says: "And where is order 1002?"},
		{decides: approves("1005"), hears: []string{"Done: refund R-2 of ¥480.00 for order 1005", "Order 1002 (pair of tea cups"}},
	}, []paid{{"1005", 480_00}}, []string{`order "1005"`, `order "1005"`, `order "1002"`, `refund {"id":"R-2","order":"1005","amount":"¥480.00"}`}},
	{"等待审批时说话", []turn{
		{says: "把我最近的订单退了。"},
		{restart: true, says: "订单 1002 到哪了？"},
		{decides: approves("1005"), hears: []string{"办好了：退款 R-2，¥480.00，订单 1005", "订单 1002（茶杯一对"}},
	}, []paid{{"1005", 480_00}}, []string{`order "1005"`, `order "1005"`, `order "1002"`, `refund {"id":"R-2","order":"1005","amount":"¥480.00"}`}},

	{"an unknown order", []turn{
		{says: "Where is order 9999?", hears: []string{"9999: that did not work", "no such order"}},
		{says: "Where is my latest order?", hears: []string{"Order 1005"}},
	}, nil, []string{`order "1005"`}},
	{"不存在的订单", []turn{
		{says: "订单 9999 到哪了？", hears: []string{"9999：没有办成", "没有这个订单"}},
		{says: "最近的订单到哪了？", hears: []string{"订单 1005"}},
	}, nil, []string{`order "1005"`}},

	{"never mind", []turn{
		{says: "Refund my latest order."},
		{says: "Never mind.", hears: []string{"All right, I leave it."}},
		{says: "Where is it?", hears: []string{"Order 1005", "was delivered"}},
	}, nil, []string{`order "1005"`, `order "1005"`}},
	{"算了", []turn{
		{says: "把我最近的订单退了。"},
		{says: "算了。", hears: []string{"好的，那就不办了。"}},
		{says: "它到哪了？", hears: []string{"订单 1005", "送达"}},
	}, nil, []string{`order "1005"`, `order "1005"`}},

	{"which refund was it", []turn{
		{says: "Refund order 1002.", hears: []string{"Done: refund R-2 of ¥68.00"}},
		{says: "Refund ¥30 of order 1005.", hears: []string{"Done: refund R-3 of ¥30.00"}},
		{restart: true, fresh: true, days: 7, says: "Did the refund of order 1002 arrive?", uses: []string{"refund_status"}, hears: []string{"Yes: refund R-2 of ¥68.00"}},
	}, []paid{{"1002", 68_00}, {"1005", 30_00}}, nil},
	{"上次是哪笔退款", []turn{
		{says: "退掉订单 1002。", hears: []string{"办好了：退款 R-2，¥68.00"}},
		{says: "订单 1005 退 30 元。", hears: []string{"办好了：退款 R-3，¥30.00"}},
		{restart: true, fresh: true, days: 7, says: "上次订单 1002 的退款到账了吗？", uses: []string{"refund_status"}, hears: []string{"到了：退款 R-2，¥68.00"}},
	}, []paid{{"1002", 68_00}, {"1005", 30_00}}, nil},

	{"I like tables", []turn{
		{says: "List all my refunds.", hears: []string{"Yes: refund R-1"}, lacks: "|"},
		{says: "I like tables.", hears: []string{"lists come as tables"}},
		{restart: true, fresh: true, days: 7, says: "List all my refunds.", hears: []string{"| refund | order |", "| R-1 | 1003 |"}},
		{says: "List all my orders.", uses: []string{"list_orders"}, hears: []string{"| order | goods |", "| 1005 | standing lamp"}},
		{says: "No tables any more.", hears: []string{"without tables"}},
		{restart: true, fresh: true, days: 1, says: "List all my refunds.", hears: []string{"Yes: refund R-1"}, lacks: "|"},
	}, nil, nil},
	{"我喜欢用表格", []turn{
		{says: "列出我的所有退款。", hears: []string{"到了：退款 R-1"}, lacks: "|"},
		{says: "我喜欢用表格。", hears: []string{"都用表格"}},
		{restart: true, fresh: true, days: 7, says: "列出我的所有退款。", hears: []string{"| 退款 | 订单 |", "| R-1 | 1003 |"}},
		{says: "列出我的所有订单。", uses: []string{"list_orders"}, hears: []string{"| 订单 | 商品 |", "| 1005 | 落地灯"}},
		{says: "不要再用表格了。", hears: []string{"不用表格"}},
		{restart: true, fresh: true, days: 1, says: "列出我的所有退款。", hears: []string{"到了：退款 R-1"}, lacks: "|"},
	}, nil, nil},

	{"what do you know about me", []turn{
		{says: "I like tables.", hears: []string{"lists come as tables"}},
		{says: "Remember that my flat is on the fifth floor.", uses: []string{"remember"}, hears: []string{"I will remember it"}},
		{restart: true, fresh: true, days: 7, says: "What do you know about me?", uses: []string{"memories"}, hears: []string{"I like tables", "my flat is on the fifth floor"}},
		{says: "Forget that I like tables."},
		{restart: true, decides: approves(""), by: "lin", hears: []string{"It is forgotten."}},
		{says: "List all my refunds.", hears: []string{"Yes: refund R-1"}, lacks: "|"},
		{restart: true, fresh: true, says: "What do you know about me?", hears: []string{"fifth floor"}, lacks: "tables"},
	}, nil, nil},
	{"你记得我什么", []turn{
		{says: "我喜欢用表格。", hears: []string{"都用表格"}},
		{says: "请记住我住在五楼。", uses: []string{"remember"}, hears: []string{"我记住了"}},
		{restart: true, fresh: true, days: 7, says: "你还记得我什么？", uses: []string{"memories"}, hears: []string{"用表格", "我住在五楼"}},
		{says: "忘掉我喜欢用表格这件事。"},
		{restart: true, decides: approves(""), by: "lin", hears: []string{"已经忘记了"}},
		{says: "列出我的所有退款。", hears: []string{"到了：退款 R-1"}, lacks: "|"},
		{restart: true, fresh: true, says: "你还记得我什么？", hears: []string{"五楼"}, lacks: "表格"},
	}, nil, nil},

	{"the handbook", []turn{
		{says: "How long do I have to return something?", uses: []string{}, hears: []string{"30 days from the delivery", "Returns policy > How long you have"}},
		{says: "Do you offer gift wrapping?", uses: []string{}, hears: []string{"The handbook does not say."}},
		{says: "How much is the postage of a return?", uses: []string{}, hears: []string{"Otherwise you pay the postage"}},
	}, nil, nil},
	{"手册", []turn{
		{says: "退货期限是多久？", uses: []string{}, hears: []string{"收到商品后 30 天内", "退货政策 > 退货期限"}},
		{says: "你们提供礼品包装吗？", uses: []string{}, hears: []string{"手册里没有说明。"}},
		{says: "退货运费多少钱？", uses: []string{}, hears: []string{"每件包裹 12 元"}},
	}, nil, nil},
}
