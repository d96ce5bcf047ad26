package pin_test

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/memory/pin"
	"github.com/holdfast-go/holdfast/message"
)

// A denial is recognised, told back, and enforced, however the model asks.
func Example() {
	m := message.User("帮我看看日志。不要重启生产实例！")
	var pins []pin.Pin
	for _, f := range pin.Detect(m) {
		pins = append(pins, f.Pin("p1", m.ID, time.Now()))
	}
	fmt.Println(pins[0].Understood())

	restart := pin.Tool{Name: "restart_instance", Actions: []string{"restart"}}
	for _, args := range []string{`{"instance":"pay-prod-3"}`, `{"instance":"pay-test-1"}`, `{"instance":"i-7"}`} {
		v := pin.Gate(pins, message.Call{ID: "c1", Name: "restart_instance", Args: args}, restart)
		fmt.Println(args, v.Decision)
	}
	// Output:
	// 禁止在生产环境重启（"实例"）
	// {"instance":"pay-prod-3"} block
	// {"instance":"pay-test-1"} allow
	// {"instance":"i-7"} ask
}
