package search

import "strings"

// regular are the base forms of words that no ending leads to.
var regular = func() map[string]string {
	base := map[string]string{}
	for line := range strings.Lines(irregularWords) {
		forms := strings.Fields(line)
		for _, form := range forms[1:] {
			base[form] = forms[0]
		}
	}
	return base
}()

const irregularWords = `go went gone goes
run ran
buy bought
make made
see saw seen
take took taken
give gave given
get got gotten
come came
become became
begin began begun
break broke broken
bring brought
build built
catch caught
choose chose chosen
do done
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feel felt
fight fought
find found
fly flew flown
forget forgot forgotten
grow grew grown
hear heard
hold held
keep kept
know knew known
leave left
lend lent
lose lost
meet met
pay paid
ride rode ridden
rise rose risen
say said
sell sold
send sent
sing sang sung
sit sat
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
swim swam swum
teach taught
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
win won
write wrote written
child children
man men
woman women
person people
foot feet
tooth teeth
mouse mice
life lives
wife wives
good better best
bad worse worst`
