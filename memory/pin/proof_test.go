package pin_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// What an argument does not prove stops the call. Written without looking at the rules. // R50
func TestGateProof(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		say, name, args string
		acts            []string
		ro              bool
		stop            bool
	}{
		{"不要重启生产实例", "restart", `{"service":"a","env":"testing","env":"production"}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"service":"a","env":"testing","instance":"pay-prod-3"}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"note":"this is testing","service":"a"}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"env":["testing","production"]}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"env":"testing,*"}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"env":"ｐｒｏｄ"}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"env":"testing","host":"prodpay01"}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"env":"testing","host":"pay-pr\u043ed-3"}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"request":"{\"env\":\"production\"}","env":"testing"}`, []string{"restart"}, false, true},
		{"不要重启生产实例", "restart", `{"env":"testing"}`, []string{"restart"}, false, false},
		{"不要重启生产实例", "shell", `{"cmd":"kubectl -n testing get pods && kubectl rollout restart deploy/pay"}`, []string{"execute"}, false, true},
		{"不要重启生产实例", "shell", `{"cmd":"echo cmVib290 | base64 -d | sh"}`, []string{"execute"}, false, true},
		{"不要重启生产实例", "shell", `{"cmd":"ssh pay1 /opt/bounce.sh"}`, []string{"execute"}, false, true},
		{"不要重启生产实例", "shell", `{"cmd":"kubectl get pods -n prod | grep restart"}`, []string{"execute"}, false, true},
		{"不要重启生产实例", "shell", `{"cmd":"cat x > /proc/sysrq-trigger"}`, []string{"execute"}, false, true},
		{"never restart production", "scale", `{"service":"pay","replicas":0,"env":"production"}`, []string{"scale"}, false, true},
		{"never restart production", "foo", `{}`, nil, false, true},
		{"never restart production", "foo", `not json`, []string{"restart"}, false, true},
		{"never restart production", "get_logs", `{"env":"production","q":"restart"}`, nil, true, false},
		{"never restart production", "restart", `{"env":"nonprod"}`, []string{"restart"}, false, true},
		{"never restart production", "restart", `{"env":"testing","targets":["a",{"cluster":"live-eu"}]}`, []string{"restart"}, false, true},
		{"don't restart payment-api", "restart", `{"service":"payment_api"}`, []string{"restart"}, false, true},
		{"don't restart payment-api", "restart", `{"service":"10.0.0.3"}`, []string{"restart"}, false, true},
		{"don't restart payment-api", "restart", `{"services":["search-api","payment-api"]}`, []string{"restart"}, false, true},
		{"don't restart payment-api", "restart", `{"service":"*"}`, []string{"restart"}, false, true},
		{"don't restart payment-api", "restart", `{"service":"search-api","all":true}`, []string{"restart"}, false, true},
		{"don't restart payment-api", "restart", `{"service":"search-api"}`, []string{"restart"}, false, false},
		{"don't restart payment-api", "restart", `{"service":"payment"}`, []string{"restart"}, false, true},
		{"don't restart payment-api", "restart", `{"reason":"search-api is fine"}`, []string{"restart"}, false, true},
		{"绝对不能删除订单", "delete_record", `{"table":"orders","id":3}`, []string{"delete"}, false, true},
		{"绝对不能删除订单", "sql", `{"query":"select * from orders where deleted=0"}`, []string{"execute"}, false, false},
		{"绝对不能删除订单", "sql", `{"query":"select 1; TRUNCATE orders"}`, []string{"execute"}, false, true},
		{"don't touch prod", "deploy", `{"env":"live"}`, []string{"deploy"}, false, true},
		{"no refunds without my approval", "refund", `{"order":"A-1"}`, []string{"refund"}, false, true},
		{"stop calling me by phone", "place_call", `{"to":"+49"}`, nil, false, true},
		{"don't restart prod", "send_mail", `{"body":"please restart prod"}`, []string{"send"}, false, false},
	} {
		var pins []pin.Pin
		for j, f := range pin.Detect(message.User(c.say)) {
			if f.Effect == pin.Deny {
				pins = append(pins, f.Pin(fmt.Sprint("p", j), "m", time.Time{}))
			}
		}
		v := pin.Gate(pins, message.Call{Name: c.name, Args: c.args}, pin.Tool{Name: c.name, Actions: c.acts, ReadOnly: c.ro})
		if (v.Decision != pin.Allow) != c.stop {
			t.Errorf("%d: %q %s %s: %s", i, c.say, c.name, c.args, v.Decision)
		}
	}
}

// What a permission does not say lifts nothing. // R49
func TestLiftProof(t *testing.T) {
	t.Parallel()
	lift := func(deny, permit string) int {
		var pins []pin.Pin
		for j, f := range pin.Detect(message.User(deny)) {
			pins = append(pins, f.Pin(fmt.Sprint("p", j), "m", time.Time{}))
		}
		return len(pin.Lift(pins, pin.Detect(message.User(permit))))
	}
	for _, c := range []struct {
		deny, permit string
		want         int
	}{
		{"不要重启生产实例", "可以重启了", 1}, {"不要重启生产实例", "可以重启测试实例了", 0}, {"不要重启生产实例", "可以重启了吗？", 0}, {"不要重启生产实例", "他说可以重启了", 0},
		{"不要重启生产实例", "如果备份好了就可以重启了", 0}, {"别动线上数据库", "可以重启线上数据库了", 0}, {"不要重启生产实例", "取消刚才的限制", 1}, {"不要重启生产实例", "别取消刚才的限制", 0},
		{"never restart production", "you may restart it now", 1}, {"never restart production", "you may restart it once the backup is done", 0}, {"never restart production", "you may restart staging now", 0},
		{"never restart production", "forget what I said about the restart", 1}, {"never restart production", "don't forget what I said about the restart", 0}, {"never restart production", "can you restart it now?", 0},
		{"never restart production", "you may not restart it", 0}, {"never restart production", "the docs say \"you may restart it now\"", 0},
	} {
		if got := lift(c.deny, c.permit); got != c.want {
			t.Errorf("%q by %q: %d, want %d", c.deny, c.permit, got, c.want)
		}
	}
}
