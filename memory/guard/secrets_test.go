package guard_test

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/facttest"
	"github.com/holdfast-go/holdfast/memory/guard"
)

// No credential survives, and nothing beside it is lost. // R68
func TestCanaries(t *testing.T) {
	t.Parallel()
	survived := 0
	for i, c := range facttest.Canaries(7, 1000) {
		got, redacted := guard.Redact(c.Text)
		if strings.Contains(got, c.Secret) || !redacted {
			survived++
			t.Errorf("%d %s: %q survives in %q", i, c.Form, c.Secret, got)
		}
		if !strings.Contains(got, c.Kept) {
			t.Errorf("%d %s: %q is lost from %q", i, c.Form, c.Kept, c.Text)
		}
		if again, more := guard.Redact(got); more || again != got {
			t.Errorf("%d %s: %q becomes %q", i, c.Form, got, again)
		}
	}
	t.Logf("%d of 1,000 survived", survived)
}

// What looks like a secret and is none stays as it is.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	for _, s := range strings.Split(strings.TrimSpace(harmless), "\n") {
		if got, redacted := guard.Redact(s); redacted || got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

const harmless = `
我的订单号是 20260412345678，什么时候发货？
订单号 4111111111111111 查一下
order 5500005555555559 has not arrived
快递单号 6222021234567890128 到哪了
commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke the build
the token for request 550e8400-e29b-41d4-a716-446655440000 expired
错误码 E50031，状态 500
error code 100234 in payment-api
我的手机号是 13812345678
call me at +86 138 1234 5678
密码是什么？
密码忘了怎么办
密码是错的
密码是必填项
密码不能为空
密码重置后还是登录不了
忘记密码，请重置
我的密码过期了
修改密码的接口报 500
password is required
The password is wrong
password reset does not work
my password has expired
the password is stored in the vault
password policy: at least 12 characters
Password must have 8 characters
password: required
Passwords are hashed with bcrypt
I forgot my password again.
验证码没收到
验证码 60 秒内有效
验证码5分钟过期
the verification code expires in 300 seconds
verification code has 6 digits
token count: 12345
max_tokens=1500
tokens: 4096
the token is invalid
token expired at 10:30
The secret is consistency
secret santa is on December 24
pin 3456 to the top
pin this message please
please pin 3 messages
the primary key is order_id
press any key to continue
key: value
idempotency-key is the order number
https://example.com/orders/20260412?page=2
http://localhost:8080/health@home
postgres://localhost:5432/shop
postgres://app@db.example.com/shop
postgres://app:${PASSWORD}@db.example.com/shop
password: ${DB_PASSWORD}
password: ********
api_key=<your key>
export TOKEN=$TOKEN
uuid 550e8400-e29b-41d4-a716-446655440000
sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
image ghcr.io/holdfast-go/holdfast:1.4.2
会议时间 2026-04-12 10:30
版本 v1.26.8 已发布
预算是 50000 元
the bearer of this letter
basic understanding of Go
Basic plan for 12 users
sk-learn is a library
he is an asiatic lion, AKIA is a prefix
令牌桶算法限流 1000 次每秒
密钥轮换策略是 90 天
口令红包是什么
the session lasted 45 minutes
cookie banners are annoying
authorization failed with 403
refund R-77 of order A-1001: 199.00 CNY
trace id 4bf92f3577b34da6a3ce929d0e0e4736
身份验证失败 3 次
ticket 4242424242424242 is open
the pass rate is 98.5%
pass: all 120 tests
password_length=12
token_limit: 24000
passport number is needed
the compass is broken
他说密码和账号都不用改
两步验证已打开
`

// Hostile texts of 1 MB are read to the end: a quadratic search runs into the time-out of the tests. // R68
func TestHostileSecrets(t *testing.T) {
	t.Parallel()
	size := 1 << 20
	if testing.Short() {
		size = 1 << 14
	}
	for _, unit := range []string{
		"password", "password=", "password:", "密码", "密码是", "sk-", "eyJ", "://", "a:b@", "://a:", "4111 ", "4", "-----BEGIN PRIVATE KEY", "token ", "token=", "AKIA", "验证码", "pin ", "bearer ", "助记词 ", "'", "\"", " is my ", "is my password", "１", "\u200b密码",
	} {
		text := strings.Repeat(unit, size/len(unit))
		begin := time.Now()
		guard.Planted(text)
		if got, _ := guard.Redact(text + "\n我的密码是 Xq7!mm29"); strings.Contains(got, "Xq7!mm29") {
			t.Errorf("behind %d bytes of %q the secret survives", size, unit)
		}
		t.Logf("%d bytes of %q took %v", size, unit, time.Since(begin))
	}
}

func FuzzRedact(f *testing.F) {
	for _, c := range facttest.Canaries(3, 80) {
		f.Add(c.Text)
	}
	for _, s := range strings.Split(harmless, "\n") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		end := 0
		for _, found := range guard.Secrets(s) {
			if found.Start < end || found.End <= found.Start || found.End > len(s) {
				t.Fatalf("%q: bad finding %v", s, found)
			}
			end = found.End
		}
		once, _ := guard.Redact(s)
		if twice, more := guard.Redact(once); more || twice != once {
			t.Fatalf("%q became %q, then %q", s, once, twice)
		}
	})
}

// An ordinary megabyte: what people write, with a secret in every fiftieth line.
func BenchmarkSecrets(b *testing.B) {
	text := strings.Repeat(harmless+facttest.Canaries(1, 1)[0].Text, 1<<20/len(harmless))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		guard.Secrets(text)
	}
}

func BenchmarkPlanted(b *testing.B) {
	text := strings.Repeat(wanted, 1<<20/len(wanted))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		guard.Planted(text)
	}
}
