package pin

import (
	"slices"
	"strings"
)

// A verb is the words for one canonical action, or several.
type verb struct {
	name  string // "send,call" is both
	en    string // verbs, see conjugate
	nouns string
	zh    string
}

func (v verb) actions() []string { return strings.Split(v.name, ",") }

// anything is the action of words such as "touch": every change.
const anything = "*"

var verbs = []verb{
	{"restart", "restart reboot relaunch bounce recycle reload power-cycle power_cycle re-start", "restarts reboots", "重启|重新启动|重启动|重起|重新开机|重新拉起"},
	{"stop", "stop/stopped/stopping shut/shut/shutting_down shutdown/shutdown/shutting halt kill terminate suspend pause disable take/taken/taking_down " +
		"turn_off power_off switch_off bring/brought/bringing_down close deactivate decommission pkill poweroff quiesce stop/stopped/stopping_running drain evict",
		"shutdowns shutdown downtime outage", "停止|停掉|停机|停用|停了|停|关停|关闭|关掉|关机|下线|下架|终止|中断|中止|杀掉|杀死|杀进程|暂停|挂起|结束进程|断开"},
	{"start", "start launch boot enable turn_on power_on switch_on spin/spun/spinning_up", "", "启动|开启|拉起|上电|启用"},
	{"delete", "delete remove erase wipe purge destroy drop/dropped/dropping truncate rm clear uninstall prune del discard get/gotten/getting_rid_of nuke rmdir unlink rm-rf",
		"deletion deletions removal removals deletes", "格式化|删除|删掉|删了|删光|删库|删表|删|清空|清理|清除|清掉|移除|销毁|抹掉|抹除|干掉|丢弃|卸载"},
	{"deploy", "deploy release ship/shipped/shipping roll_out publish go/gone/going_live redeploy push/pushed/pushing_to_prod promote", "deployment deployments rollout rollouts releases",
		"部署|发布|上线|发版|上架|推上去|重新部署"},
	{"rollback", "rollback roll_back revert undo/undone/undoing", "rollback rollbacks", "回滚|回退|撤回"},
	{"scale", "scale resize autoscale scale_up scale_down scale_out scale_in upscale downscale", "scaling", "扩容|缩容|扩缩容|伸缩|扩充|加机器|减机器"},
	{"modify", "modify change update edit alter patch overwrite/overwritten/overwriting write/written/writing rewrite/rewritten/rewriting set/set/setting configure reconfigure adjust " +
		"replace rename reset/reset/resetting upgrade downgrade tweak refactor reformat chmod chown upsert", "modification modifications changes updates edits upgrades writes",
		"修改|更改|变更|改动|改变|改写|改成|改|更新|调整|调高|调低|编辑|覆盖|写入|更换|替换|重置|重命名|升级|降级|配置变更"},
	{"create", "create add insert provision register open_a_ticket generate_new", "creation", "创建|新建|新增|添加|插入|新开|开通|建立|注册"},
	{"refund", "refund reimburse pay/paid/paying_back give/given/giving_back give/given/giving_money_back", "refunds refund reimbursement money_back chargeback chargebacks", "退款|退钱|退费|返款|退货|退全款|退给"},
	{"pay", "pay/paid/paying transfer/transferred/transferring wire charge debit remit pay/paid/paying_out withdraw/withdrawn/withdrawing spend/spent/spending payout top_up",
		"payment payments transfers payout payouts purchase", "付款|付钱|支付|打款|转账|汇款|扣款|扣费|充值|提现|划款|花钱|打钱"},
	{"buy", "buy/bought/buying purchase order subscribe book reserve renew", "purchases purchase booking", "下单|购买|采购|订购|预订|预定|续费|续订|买"},
	{"cancel", "cancel cancel/cancelled/cancelling unsubscribe void abort", "cancellation cancellations", "取消|退订|作废|撤销|撤单"},
	{"send", "send/sent/sending email e-mail mail text sms notify message reply forward post tweet share ping/pinged/pinging send/sent/sending_out dm broadcast remind respond sendmail",
		"emails e-mails messages texts notifications newsletters mails reminders", "发送|发给|发出|发邮件|发短信|发消息|发通知|发|寄|群发|推送|转发|通知|回复客户|回信|群发邮件|外发|分享"},
	{"call", "call call_me call_us call_him call_her call_them phone dial/dialled/dialling ring/rung/ringing telephone give/given/giving_me_a_call", "calls phone_calls phone_call", "打电话|拨打|致电|来电|打给|打我电话|打扰电话|呼叫|拨号|电话联系|电话回访"},
	{"send,call", "contact reach_out disturb bother get/gotten/getting_in_touch approach_the_customer", "contact", "联系|打扰|骚扰|接触"},
	{"execute", "execute run/ran/running exec invoke eval call_the_api", "execution", "执行|运行|跑|调用|触发"},
	{"migrate", "migrate move", "migration migrations", "迁移|搬迁|挪动|转移"},
	{"merge", "merge", "merges", "合并|合入|并入"},
	{"push", "push commit/committed/committing force-push force_push submit/submitted/submitting", "commits pushes", "提交|推代码|推到|强推|推"},
	{"approve", "approve authorise authorize", "approvals", "批准|审批|审核通过|通过审批|放款"},
	{"grant", "grant elevate", "", "授权|授予|开权限|提权|加权限"},
	{"revoke", "revoke", "revocation", "收回权限|撤权|吊销"},
	{"export", "export download dump back_up backup upload copy leak disclose expose", "exports downloads dumps", "导出|下载|拷贝|复制|备份|上传|泄露|外传|外发|透露|告诉别人|告诉其他人|告诉任何人|给别人看|拖库"},
	{"restore", "restore", "restores", "还原|恢复"},
	{"lock", "lock freeze/frozen/freezing ban/banned/banning block blacklist", "", "冻结|封禁|拉黑|锁定|封号"},
	{"read", "read/read/reading view inspect query look_at open browse", "", "查看|读取|查询|访问|偷看|翻看|浏览"},
	{anything, "touch mess_with fiddle_with tamper_with interfere_with do/done/doing_anything meddle_with make/made/making_any_changes make/made/making_changes make/made/making_a_change " +
		"change_anything change_a_thing lay/laid/laying_a_finger_on operate_on modify_anything alter_anything do/done/doing_anything_to do/done/doing_anything_with",
		"changes_of_any_kind", "动|碰|动手|乱动|触碰|操作|做任何操作|做任何变更|做任何改动|做任何修改|做变更|做改动|下手"},
}

// covers says which other actions a denial reaches, because they do what was forbidden or undo it by a detour.
var covers = map[string][]string{
	"restart": {"stop"},     // stopping and starting again
	"stop":    {"restart"},  // a restart stops it first; scaling to nothing is read as stop
	"modify":  {"delete"},   // a deleted thing did not stay as it was
	"pay":     {"buy"},      // buying pays
	"buy":     {"pay"},      // paying is what buying was forbidden for
	"deploy":  {"rollback"}, // an old version is rolled out
	"export":  {"send"},     // what is sent has left
}

// Actions returns the canonical names that Tool.Actions and Pin.Actions may hold, sorted.
func Actions() []string { return slices.Clone(actionNames) }

var actionNames = func() (names []string) {
	for _, v := range verbs {
		for _, a := range v.actions() {
			if a != anything {
				names = append(names, a)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}()

// canonical returns the actions that a word stands for: a canonical name itself, or any of its words in either language.
func canonical(s string) []string {
	s = foldText(strings.TrimSpace(s))
	if _, ok := slices.BinarySearch(actionNames, s); ok {
		return []string{s}
	}
	ts := scan(nil, s, 0, len(s))
	if len(ts) == 0 {
		return nil
	}
	if e, ok := match(ts); ok && e.class&cAction != 0 && len(e.tokens) == len(ts) {
		return e.actions
	}
	return nil
}

// reaches reports whether a denial of some actions stops one.
func reaches(denied []string, action string) bool {
	if len(denied) == 0 {
		return action != "read"
	}
	return slices.ContainsFunc(denied, func(d string) bool { return d == action || slices.Contains(covers[d], action) })
}
