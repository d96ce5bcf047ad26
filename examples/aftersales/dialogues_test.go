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
		{restart: true, fresh: true, days: 3, says: "Did that refund arrive?", hears: []string{"Yes: refund R-2 of ¥480.00 for order 1005 arrived on 2026-03-16"}},
	}, []paid{{"1005", 480_00}}, []string{`order "1005"`, `order "1005"`, `refund {"id":"R-2","order":"1005","amount":"¥480.00"}`}},
	{"主线", []turn{
		{says: "我最近的订单到哪了？", hears: []string{"订单 1005", "落地灯", "已于 2026-03-12 送达"}},
		{restart: true, says: "那帮我退了吧，因为太亮了。"},
		{restart: true, decides: approves("1005"), hears: []string{"退款 R-2，¥480.00，订单 1005"}},
		{restart: true, fresh: true, days: 3, says: "那笔退款到账了吗？", hears: []string{"到了：退款 R-2", "已于 2026-03-16 到账"}},
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
}
