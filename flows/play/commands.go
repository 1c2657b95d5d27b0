package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/schemas"
)

// help describes the commands.
const help = `ACTION [INPUT=VALUE ...]   take an action, by its name or number; without values, each input is asked for
passkey [DEVICE] [FAULT]   answer with the passkey of a device; also as=USER, origin=URL, name=LABEL, old, replay
code DEVICE [INPUT=VALUE]  send the code of the authenticator app of a device; also ahead=30s
provider SUBJECT [FAULT]   return from the identity provider; CLAIM=VALUE adds a claim
wait DURATION              wait before the next answer, such as 6m
send {...}                 send what "send" of a scenario can contain, in YAML
faults                     list the faults of devices, or of providers
facts                      list what holds in the run
back, restart              return to the step before; start again with the files as they are now
save NAME                  save the walk as a scenario
help, quit`

// command is a command with its arguments: the words, and the rest of the line as it was written.
type command func(g *Game, ctx context.Context, words []string, rest string) error

func commands() map[string]command {
	return map[string]command{
		"help": func(g *Game, _ context.Context, _ []string, _ string) error { g.print("%s", help); return nil },
		"quit": func(g *Game, _ context.Context, _ []string, _ string) error { g.isOver = true; return nil },
		"back": func(g *Game, ctx context.Context, _ []string, _ string) error {
			if len(g.sends) == 0 {
				return errors.New("this is the first step")
			}
			return g.replay(ctx, g.sends[:len(g.sends)-1])
		},
		"restart": func(g *Game, ctx context.Context, _ []string, _ string) error { return g.restart(ctx) },
		"save":    func(g *Game, _ context.Context, _ []string, rest string) error { return g.save(rest) },
		"facts": func(g *Game, ctx context.Context, _ []string, _ string) error {
			g.printFacts(g.player.Walk(ctx))
			return nil
		},
		"faults":   func(g *Game, ctx context.Context, _ []string, _ string) error { g.printFaults(g.step(ctx)); return nil },
		"wait":     (*Game).wait,
		"passkey":  (*Game).passkey,
		"code":     (*Game).code,
		"provider": (*Game).provider,
		"send":     (*Game).sendText,
	}
}

// execute executes a line. An empty line takes the only action.
func (g *Game) execute(ctx context.Context, line string) error {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return nil
	}
	words, err := split(line)
	if err != nil {
		return err
	}
	if len(words) == 0 {
		return g.takeOnlyAction(ctx)
	}
	if run := commands()[words[0]]; run != nil {
		return run(g, ctx, words[1:], strings.TrimSpace(strings.TrimPrefix(line, words[0])))
	}
	return g.takeAction(ctx, words[0], words[1:])
}

func (g *Game) takeOnlyAction(ctx context.Context) error {
	step := g.step(ctx)
	if actions := actionsOf(step); len(actions) == 1 && step.FlowStatus == schemas.Incomplete && !hasCeremony(step) {
		return g.takeAction(ctx, "1", nil)
	}
	return errors.New("type an answer; help lists the commands")
}

// actionsOf returns the actions of a step, except the one that starts the ceremony of a passkey. A
// step with nothing but inputs is answered with them.
func actionsOf(step *schemas.Step) (refs []string) {
	for _, a := range step.Data.Actions {
		if !hasTrigger(componentsOf(step), a.Ref) {
			refs = append(refs, a.Ref)
		}
	}
	if len(step.Data.Actions) == 0 && len(formInputs(step)) > 0 {
		return []string{"continue"}
	}
	return refs
}

// takeAction answers the step with an action and its inputs.
func (g *Game) takeAction(ctx context.Context, name string, values []string) error {
	step := g.step(ctx)
	if step.FlowStatus != schemas.Incomplete {
		return errors.New("the run is over: back, restart, save NAME or quit")
	}
	refs := actionsOf(step)
	i := slices.Index(refs, name)
	if n, err := strconv.Atoi(name); err == nil && n >= 1 && n <= len(refs) {
		i = n - 1
	}
	if i < 0 {
		return fmt.Errorf("there is no action or command %q%s; help lists the commands", name, schemas.Hint(name, refs))
	}
	s := flowtest.Send{}
	if len(step.Data.Actions) > 0 {
		s.Action = refs[i]
	}
	inputs, err := parseValues(values)
	if err != nil {
		return err
	}
	if len(values) == 0 {
		inputs = g.askInputs(ctx, step)
	}
	if g.isOver {
		return nil
	}
	if len(inputs) > 0 {
		s.Inputs = inputs
	}
	return g.send(ctx, s)
}

// askInputs asks for each input. An empty line omits it.
func (g *Game) askInputs(ctx context.Context, step *schemas.Step) map[string]string {
	inputs, asked := map[string]string{}, formInputs(step)
	if len(asked) > 0 {
		g.print("(an empty line omits the input)")
	}
	for _, in := range asked {
		value, more := g.ask(ctx, "  "+in.Identifier+": ")
		if !more {
			break
		}
		if value != "" {
			inputs[in.Identifier] = value
		}
	}
	return inputs
}

// formInputs returns the inputs that a user enters.
func formInputs(step *schemas.Step) []schemas.Input {
	return slices.DeleteFunc(slices.Clone(step.Data.Inputs), func(in schemas.Input) bool { return flowtest.IsCeremonyInput(in.Identifier) })
}

// parseValues parses NAME=VALUE.
func parseValues(words []string) (map[string]string, error) {
	values := map[string]string{}
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("expected INPUT=VALUE, got %q; quote a value with spaces: password=%q", word, "a long password")
		}
		values[name] = value
	}
	return values, nil
}

func (g *Game) wait(_ context.Context, words []string, _ string) error {
	if len(words) != 1 {
		return errors.New("expected a duration, such as 6m")
	}
	before := g.after
	g.after = words[0]
	if _, err := g.parse(append(slices.Clip(g.sends), flowtest.Send{After: g.after})); err != nil {
		g.after = before
		return err
	}
	g.print("the next answer is sent after %s", g.after)
	return nil
}

// passkey answers the ceremony of the step.
func (g *Game) passkey(ctx context.Context, words []string, _ string) error {
	step := g.step(ctx)
	if !hasCeremony(step) {
		return errors.New("this step does not ask for a passkey")
	}
	names, options, err := g.separate(words, "old", "replay")
	if err != nil {
		return err
	}
	device := at(names, 0)
	if device == "" {
		if device, err = g.onlyDevice(step); err != nil {
			return err
		}
	}
	c := flowtest.Ceremony{Device: device, Fault: at(names, 1), Old: options["old"] != "", Replay: options["replay"] != "", As: options["as"], Origin: options["origin"], Name: options["name"]}
	return g.send(ctx, flowtest.Send{Passkey: &c})
}

// onlyDevice returns the device that answers if the user names none.
func (g *Game) onlyDevice(step *schemas.Step) (string, error) {
	if step.Data.AdditionalData["passkeyCreationOptions"] != "" {
		return flowtest.NewDevice, nil
	}
	if len(g.devices) == 1 {
		return g.devices[0], nil
	}
	return "", fmt.Errorf("expected a device: passkey DEVICE, with one of %s, or another name for a device without passkeys", strings.Join(g.devices, ", "))
}

func (g *Game) code(ctx context.Context, words []string, _ string) error {
	names, options, err := g.separate(words)
	if err != nil {
		return err
	}
	if len(names) != 1 {
		return errors.New("expected the device with the authenticator app: code DEVICE")
	}
	s := flowtest.Send{TOTP: &flowtest.Code{Device: names[0], Ahead: options["ahead"]}}
	delete(options, "ahead")
	if actions := g.step(ctx).Data.Actions; len(actions) > 0 {
		s.Action = cmp.Or(options["action"], actions[0].Ref)
	}
	if delete(options, "action"); len(options) > 0 {
		s.Inputs = options
	}
	return g.send(ctx, s)
}

func (g *Game) provider(ctx context.Context, words []string, _ string) error {
	if g.step(ctx).Type != schemas.Redirection {
		return errors.New("this step does not redirect to an identity provider")
	}
	names, claims, err := g.separate(words)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return errors.New("expected the user's identifier at the provider: provider SUBJECT")
	}
	f := flowtest.Federated{Subject: names[0], Fault: at(names, 1)}
	for name, value := range claims {
		if f.Claims == nil {
			f.Claims = map[string]any{}
		}
		f.Claims[name] = value
		if value == "true" || value == "false" {
			f.Claims[name] = value == "true"
		}
	}
	return g.send(ctx, flowtest.Send{Federated: &f})
}

// sendText sends a request that is written as in a scenario.
func (g *Game) sendText(ctx context.Context, _ []string, rest string) error {
	s, problems := flowtest.ParseSend(rest)
	if len(problems) > 0 {
		return errors.New(problems[0].Message)
	}
	return g.send(ctx, s)
}

// separate returns the words that are names, and the others as options: NAME=VALUE, or one of flags.
func (g *Game) separate(words []string, flags ...string) (names []string, options map[string]string, err error) {
	options = map[string]string{}
	for _, word := range words {
		name, value, isOption := strings.Cut(word, "=")
		switch {
		case isOption:
			options[name] = value
		case slices.Contains(flags, word):
			options[word] = word
		default:
			names = append(names, word)
		}
	}
	if len(names) > 2 {
		return nil, nil, fmt.Errorf("unexpected %q; quote a name with spaces: %q", names[2], "new device")
	}
	return names, options, nil
}

func at(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

// split splits a line into words. Quotes keep spaces in a word.
func split(line string) (words []string, err error) {
	var word strings.Builder
	inWord, quote := false, rune(0)
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			if inWord {
				words = append(words, word.String())
			}
			word.Reset()
			inWord = false
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 && !strings.HasPrefix(line, "send ") && !strings.HasPrefix(line, "save ") {
		return nil, fmt.Errorf("the quote %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
