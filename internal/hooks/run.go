package hooks

import (
	"net/http"
	"strconv"
	"strings"
	"text/template/parse"
	"time"

	template "github.com/DataDog/datadog-agent/pkg/template/text"
)

const (
	maxSteps = 100_000  // of one rendering: elements gone over and functions called
	maxWork  = 16 << 20 // bytes that its functions read and make
)

// run is one rendering. Every function of a template, and every turn of a range,
// goes through step, so that nothing runs on; text that is read or made is
// charged before it is.
type run struct {
	header   http.Header
	deadline time.Time
	steps    int
	work     int
}

// functions returns what a template can call, bound to a run. and, or and not
// are those of text/template, which evaluates them lazily.
func (r *run) functions() template.FuncMap {
	return template.FuncMap{
		fnShow: r.show, fnOver: r.over, fnStep: r.turn, fnField: r.field,

		"eq": r.eq, "ne": r.ne,
		"lt": r.ordered(func(order int) bool { return order < 0 }), "le": r.ordered(func(order int) bool { return order <= 0 }),
		"gt": r.ordered(func(order int) bool { return order > 0 }), "ge": r.ordered(func(order int) bool { return order >= 0 }),
		"len": r.length, "index": r.index, "slice": r.slice, "kind": r.kind,
		"print": r.print, "printf": r.printf, "raw": r.raw, "json": r.json,

		"default": r.orDefault, "truncate": r.truncate, "line": r.ofText(firstLine), "short": r.ofText(shortHash), "trim": r.ofText(strings.TrimSpace),
		"upper": r.ofText(strings.ToUpper), "lower": r.ofText(strings.ToLower), "title": r.ofText(titled),
		"trimPrefix": r.trimmedBy(strings.TrimPrefix), "trimSuffix": r.trimmedBy(strings.TrimSuffix),
		"replace": r.replace, "contains": r.asks(strings.Contains), "hasPrefix": r.asks(strings.HasPrefix), "hasSuffix": r.asks(strings.HasSuffix),
		"split": r.split, "join": r.join, "first": r.first, "add": r.add, "sub": r.sub,
		"date": r.date, "header": r.headerOf,
	}
}

// step counts n steps, and ends a run that has taken too many or too long.
func (r *run) step(n int) error {
	if r.steps += n; r.steps > maxSteps {
		return errTooMuch
	}
	if time.Now().After(r.deadline) {
		return errTooSlow
	}
	return nil
}

// charge counts the bytes that a function is about to read or make.
func (r *run) charge(n int) error {
	if r.work += n; n < 0 || r.work > maxWork {
		return errTooMuch
	}
	return r.step(1)
}

// turn begins each turn of a range.
func (r *run) turn() (string, error) { return "", r.step(1) }

// over returns what a range may go over: lists and objects.
func (r *run) over(value any) (any, error) {
	switch value := value.(type) {
	case nil:
		return nil, r.step(1)
	case []any:
		return value, r.step(1)
	case map[string]any:
		return value, r.charge(16 * len(value)) // its names are sorted
	}
	return nil, errNotAList
}

// The functions that secure puts into a template. Callers cannot use their
// names.
const (
	fnShow  = "_show"  // ends what is printed
	fnOver  = "_over"  // ends what a range goes over
	fnStep  = "_step"  // begins a range's list
	fnField = "_field" // stands for .a.b
)

// secure rewrites a checked template so that it cannot run on, nor mark up with a
// payload's words, nor fail where a field is missing: text/template looks at
// neither a clock nor a limit by itself, but it calls functions.
func secure(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		secureNode(node)
	}
}

func secureNode(node parse.Node) {
	switch node := node.(type) {
	case *parse.ActionNode:
		securePipe(node.Pipe)
		if len(node.Pipe.Decl) == 0 {
			appendCall(node.Pipe, fnShow)
		}
	case *parse.IfNode:
		secureBranch(&node.BranchNode)
	case *parse.WithNode:
		secureBranch(&node.BranchNode)
	case *parse.RangeNode:
		secureBranch(&node.BranchNode)
		appendCall(node.Pipe, fnOver)
		step := &parse.PipeNode{NodeType: parse.NodePipe, Pos: node.Pos}
		appendCall(step, fnStep)
		first := &parse.ActionNode{NodeType: parse.NodeAction, Pos: node.Pos, Line: node.Line, Pipe: step}
		node.List.Nodes = append([]parse.Node{first}, node.List.Nodes...)
	}
}

func secureBranch(node *parse.BranchNode) {
	securePipe(node.Pipe)
	secure(node.List)
	secure(node.ElseList)
}

// appendCall has a pipeline end in a function.
func appendCall(pipe *parse.PipeNode, name string) {
	call := parse.NewIdentifier(name).SetPos(pipe.Pos)
	pipe.Cmds = append(pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pipe.Pos, Args: []parse.Node{call}})
}

func securePipe(pipe *parse.PipeNode) {
	for _, cmd := range pipe.Cmds {
		for i, arg := range cmd.Args {
			cmd.Args[i] = secureArgument(arg)
		}
	}
}

// secureArgument returns an argument in which names of fields are calls.
func secureArgument(arg parse.Node) parse.Node {
	switch arg := arg.(type) {
	case *parse.PipeNode:
		securePipe(arg)
	case *parse.FieldNode:
		return fieldCall(arg.Pos, &parse.DotNode{NodeType: parse.NodeDot, Pos: arg.Pos}, arg.Ident)
	case *parse.VariableNode:
		if len(arg.Ident) > 1 {
			variable := &parse.VariableNode{NodeType: parse.NodeVariable, Pos: arg.Pos, Ident: arg.Ident[:1]}
			return fieldCall(arg.Pos, variable, arg.Ident[1:])
		}
	case *parse.ChainNode:
		return fieldCall(arg.Pos, secureArgument(arg.Node), arg.Field)
	}
	return arg
}

// fieldCall returns the pipeline that looks up names in a value.
func fieldCall(pos parse.Pos, of parse.Node, names []string) parse.Node {
	args := []parse.Node{parse.NewIdentifier(fnField).SetPos(pos), of}
	for _, name := range names {
		args = append(args, &parse.StringNode{NodeType: parse.NodeString, Pos: pos, Quoted: strconv.Quote(name), Text: name})
	}
	cmd := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: args}
	return &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{cmd}}
}
