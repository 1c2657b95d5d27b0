package password

import (
	"math"
	"strings"
	"sync"
	"unicode"

	"github.com/trustelem/zxcvbn/frequency"
)

// How easy a password is to guess
//
// An attacker first tries common passwords, common words and what is known about the user, alone
// and joined (NIST SP 800-63B-4 §3.1.1.2 requires rejecting such passwords). So a password is
// split into parts in the way that takes the fewest guesses: a listed word costs its rank in the
// list, a repetition little more than what it repeats, any other character ten guesses. The costs
// of the parts multiply; here they are added as decimal logarithms. This is the model of zxcvbn
// (Wheeler, USENIX Security 2016), without keyboard layouts and dates.
//
// The lists are those of github.com/trustelem/zxcvbn: 30,000 passwords of breaches by frequency,
// words of films and of Wikipedia, names of people. Its matchers are not used: they build their
// tables when the process starts, which takes 20 ms and 10 MB in every command, and they cannot
// score text beyond ASCII. This code builds its table when the first password is set, and its time
// is bounded by the length of the password.

// minGuessability is the decimal logarithm of the guesses that a password must withstand: zxcvbn's
// limit for "safely unguessable". An attacker on the server has 100 guesses; one with stolen hashes
// makes about a thousand per second.
const minGuessability = 8 - 1e-9

const (
	otherCharacter = 1.0 // ten guesses
	yearCost       = 2.3 // 200 years
	runCost        = 1.3 // where a run like abcd or 9876 starts, and its direction
)

// phrases are well-known passphrases, which lists of words do not have.
const phrases = `correcthorsebatterystaple thequickbrownfoxjumpsoverthelazydog
	thequickbrownfox maytheforcebewithyou tobeornottobe tobeornottobethatisthequestion
	letmeinletmein iloveyousomuch ilovemyfamily thisismypassword mypasswordis passwordispassword
	whatisyourpassword ihatepasswords openthedoor rememberthis changethispassword
	onceuponatime loremipsumdolorsitamet thankyouverymuch goodmorningworld helloworldhello
	qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertzuiopasdfghjklyxcvbnm 1qaz2wsx3edc4rfv5tgb
	qazwsxedcrfvtgbyhnujm asdfghjklzxcvbnm zaq12wsxcde34rfv`

// The length of the parts that are looked up in the lists, in characters. Shorter words occur in
// random text by chance; longer ones are not worth listing.
const (
	minWordLength = 3
	maxWordLength = 32
)

// ranks maps a word to its first place in a list. The table is built once, when the first password
// is checked.
var ranks = sync.OnceValue(func() map[string]float64 {
	table := make(map[string]float64, 100_000)
	add := func(list []string) {
		for i, word := range list {
			cost := math.Log10(float64(i + 2))
			if known, ok := table[word]; !ok || cost < known {
				table[word] = cost
			}
		}
	}
	for _, list := range frequency.FrequencyLists {
		add(list)
	}
	add(strings.Fields(phrases))
	return table
})

// isSeparator reports whether a character separates words.
func isSeparator(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// guessability returns the decimal logarithm of about how many guesses a password withstands, by an
// attacker who knows these texts.
func guessability(password string, known []string) float64 {
	s := newSplitter(password, known)
	for length := 1; length <= len(s.lower); length++ {
		for from := 0; from+length <= len(s.lower); from++ {
			s.split(from, from+length)
		}
	}
	return math.Min(s.cost[0][len(s.lower)], s.phrase())
}

// splitter finds the cheapest way to split a password.
type splitter struct {
	lower []rune              // the password
	read  [2][]rune           // with signs read as the letters they resemble, in two ways
	known map[string]struct{} // words known about the user
	cost  [][]float64         // of the part from one character to another
}

func newSplitter(password string, known []string) *splitter {
	s := &splitter{lower: []rune(strings.ToLower(password)), known: map[string]struct{}{}}
	s.read[0] = undoSubstitutions(s.lower, 'i')
	s.read[1] = undoSubstitutions(s.lower, 'l')
	for _, text := range known {
		s.addKnown(strings.ToLower(text))
	}
	n := len(s.lower) + 1
	cells := make([]float64, n*n)
	s.cost = make([][]float64, n)
	for i := range s.cost {
		s.cost[i] = cells[i*n : (i+1)*n]
	}
	return s
}

// addKnown adds a text and the words in it.
func (s *splitter) addKnown(text string) {
	words := strings.FieldsFunc(text, isSeparator)
	for _, word := range append(words, text, strings.Join(words, "")) {
		if len([]rune(word)) >= minWordLength {
			s.known[word] = struct{}{}
		}
	}
}

// undoSubstitutions replaces digits and signs with the letters they resemble.
func undoSubstitutions(text []rune, one rune) []rune {
	letters := map[rune]rune{
		'0': 'o', '1': one, '!': one, '|': one, '3': 'e', '4': 'a', '@': 'a', '5': 's', '$': 's', '7': 't', '+': 't', '8': 'b', '9': 'g',
	}
	read := make([]rune, len(text))
	for i, r := range text {
		read[i] = r
		if letter, ok := letters[r]; ok {
			read[i] = letter
		}
	}
	return read
}

// split computes the cost of a part from the costs of its smaller parts.
func (s *splitter) split(from, to int) {
	least := math.Min(float64(to-from)*otherCharacter, s.part(from, to))
	for at := from + 1; at < to; at++ {
		least = math.Min(least, s.cost[from][at]+s.cost[at][to])
	}
	s.cost[from][to] = math.Min(least, s.repeated(from, to))
}

// part returns the cost of a part as a unit: a word, a year or a run.
func (s *splitter) part(from, to int) float64 {
	least := math.Inf(1)
	if isRun(s.lower[from:to]) {
		least = runCost + math.Log10(float64(to-from))
	}
	if isYear(string(s.lower[from:to])) {
		least = math.Min(least, yearCost)
	}
	if to-from < minWordLength || to-from > maxWordLength {
		return least
	}
	for _, text := range [][]rune{s.lower, s.read[0], s.read[1]} {
		least = math.Min(least, s.word(string(text[from:to])))
	}
	return least
}

// word returns the cost of a word that is listed or known.
func (s *splitter) word(word string) float64 {
	if _, ok := s.known[word]; ok {
		return math.Log10(2)
	}
	if cost, ok := ranks()[word]; ok {
		return cost
	}
	return math.Inf(1)
}

// phrase returns the cost of the whole password if it is a listed phrase, with any separators.
func (s *splitter) phrase() float64 {
	return s.word(strings.Join(strings.FieldsFunc(string(s.lower), isSeparator), ""))
}

// repeated returns the cost of a repetition, whose last period may be incomplete. Longer periods
// are multiples of the shortest one.
func (s *splitter) repeated(from, to int) float64 {
	for period := 1; 2*period <= to-from; period++ {
		same := true
		for i := from + period; i < to && same; i++ {
			same = s.lower[i] == s.lower[i-period]
		}
		if same {
			return s.cost[from][from+period] + math.Log10(float64(to-from)/float64(period))
		}
	}
	return math.Inf(1)
}

// isRun reports whether at least three characters are consecutive in the alphabet or among the
// digits, up or down.
func isRun(text []rune) bool {
	if len(text) < 3 {
		return false
	}
	step := text[1] - text[0]
	for i := 1; i < len(text); i++ {
		if text[i]-text[i-1] != step {
			return false
		}
	}
	return step == 1 || step == -1
}

// isYear reports whether the text is a year of the 20th or 21st century.
func isYear(text string) bool {
	if len(text) != 4 || !strings.HasPrefix(text, "19") && !strings.HasPrefix(text, "20") {
		return false
	}
	return unicode.IsDigit(rune(text[2])) && unicode.IsDigit(rune(text[3]))
}
