package search

import "strings"

// Words that say nothing about what a text is about. Negations are among them: they never tell texts about one thing apart from others.
var emptyWords = set(`a about above after again all also am an and any anyone anything are arent as at be because been before being below
	between both but by can cannot cant could couldnt did didnt do does doesnt doing dont down during each few for from further had hadnt has hasnt
	have havent having he hed her here hers herself hes him himself his how hows i id if ill im in into is isnt it its itself ive
	just lets me more most much my myself no nor not of off on once only or other our ours ourselves out over please same she shed
	shes should shouldnt so some someone something such than that thats the their theirs them themselves then there theres these they theyd theyll theyre theyve
	this those through to too under until up very was wasnt we wed were werent weve what whats when whens where wheres which while
	who whom whos why will with wont would wouldnt you youd youll your youre yours yourself youve
	even get gets getting got hello hey hi lot lots many much oh ok okay quite really thank thanks well yeah yes`)

var emptyPairs = set(`什么 怎么 怎样 哪里 哪些 哪个 多少 如何 为何 请问 是否 一个 一些 可以 这样 那样 时候 你好 谢谢`)

const emptyRunes = "的了吗呢吧啊呀嘛么是在和与及或而且但就也都还又很我你您他她它们这那哪些个之于以被把对从到给让有为着过什怎请问何"

func emptyRune(r rune) bool { return strings.ContainsRune(emptyRunes, r) }

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
