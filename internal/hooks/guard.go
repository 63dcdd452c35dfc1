package hooks

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	template "github.com/DataDog/datadog-agent/pkg/template/text"

	"bridged/internal/bridge"
)

// maxRanges limits how deep ranges stand within one another.
const maxRanges = 2

// The functions that the guard puts into a template. Callers cannot use their names.
const (
	fnShow  = "_show"  // ends what is printed
	fnOver  = "_over"  // ends what a range goes over
	fnStep  = "_step"  // begins a range's list
	fnField = "_field" // stands for .a.b
)

// guard walks through a template. It refuses nodes that could run long and names that do
// not exist, and rewrites the others to call functions that end a run, show a payload's
// words without markup, and do not fail where a field is missing: text/template itself has
// no limits.
type guard struct {
	tree *parse.Tree
	err  error // the first problem
}

// secure refuses or rewrites a template. Without define, template and loops over
// numbers all that repeats is a range over a payload's list, two deep.
func secure(t *template.Template) error {
	for _, other := range t.Templates() {
		if other.Name() != templateName {
			return bridge.Invalid("template: define, block and template cannot be used in hooks (%s)", other.Name())
		}
	}
	if t.Tree == nil {
		return bridge.Invalid("template must have something to say")
	}
	g := &guard{tree: t.Tree}
	g.list(t.Root, scope{root: true})
	return g.err
}

// scope is the surroundings of a node.
type scope struct {
	ranges int  // how many ranges
	root   bool // whether the dot is the template's data
}

func (g *guard) refuse(node parse.Node, format string, args ...any) {
	if g.err == nil {
		location, _ := g.tree.ErrorContext(node)
		g.err = bridge.Invalid("template: %s", placed("template: "+location+": ", fmt.Sprintf(format, args...)))
	}
}

func (g *guard) list(list *parse.ListNode, in scope) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		g.node(node, in)
	}
}

func (g *guard) node(node parse.Node, in scope) {
	switch node := node.(type) {
	case *parse.TextNode, *parse.CommentNode, *parse.BreakNode, *parse.ContinueNode:
	case *parse.ActionNode:
		g.pipe(node.Pipe, in)
		if len(node.Pipe.Decl) == 0 {
			appendCall(node.Pipe, fnShow)
		}
	case *parse.IfNode:
		g.branch(&node.BranchNode, in, in)
	case *parse.WithNode:
		g.branch(&node.BranchNode, in, scope{ranges: in.ranges})
	case *parse.RangeNode:
		g.loop(node, in)
	default:
		g.refuse(node, "%s cannot be used in hooks", node)
	}
}

// branch guards an if, with or range whose list has a scope of its own.
func (g *guard) branch(node *parse.BranchNode, in, within scope) {
	g.pipe(node.Pipe, in)
	g.list(node.List, within)
	g.list(node.ElseList, in)
}

func (g *guard) loop(node *parse.RangeNode, in scope) {
	if in.ranges == maxRanges {
		g.refuse(node, "at most %d ranges may stand within one another", maxRanges)
		return
	}
	if isNumber(node.Pipe) {
		g.refuse(node, "range goes over lists and objects, not over numbers")
	}
	g.branch(&node.BranchNode, in, scope{ranges: in.ranges + 1})
	appendCall(node.Pipe, fnOver)
	step := &parse.PipeNode{NodeType: parse.NodePipe, Pos: node.Pos}
	appendCall(step, fnStep)
	node.List.Nodes = slices.Insert(node.List.Nodes, 0, parse.Node(&parse.ActionNode{NodeType: parse.NodeAction, Pos: node.Pos, Line: node.Line, Pipe: step}))
}

// appendCall has a pipeline end in a function.
func appendCall(pipe *parse.PipeNode, name string) {
	call := parse.NewIdentifier(name).SetPos(pipe.Pos)
	pipe.Cmds = append(pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pipe.Pos, Args: []parse.Node{call}})
}

// isNumber reports whether a pipeline is a number that the template names.
func isNumber(pipe *parse.PipeNode) bool {
	last := pipe.Cmds[len(pipe.Cmds)-1].Args[0]
	if inner, is := last.(*parse.PipeNode); is {
		return isNumber(inner)
	}
	name, isFunction := last.(*parse.IdentifierNode)
	_, isLiteral := last.(*parse.NumberNode)
	return isLiteral || isFunction && slices.Contains([]string{"len", "add", "sub"}, name.Ident)
}

func (g *guard) pipe(pipe *parse.PipeNode, in scope) {
	for i, cmd := range pipe.Cmds {
		given := len(cmd.Args) - 1
		if i > 0 {
			given++
		}
		if name, isFunction := cmd.Args[0].(*parse.IdentifierNode); isFunction {
			g.call(name, given)
		} else if given > 0 {
			g.refuse(cmd, "%s is no function", cmd.Args[0])
		}
		for i, arg := range cmd.Args {
			cmd.Args[i] = g.argument(arg, in)
		}
	}
}

// call checks the name of a function and how many arguments it is given.
func (g *guard) call(name *parse.IdentifierNode, given int) {
	least, most := 1, given // of and, or
	if name.Ident == "not" {
		most = 1
	}
	if function := g.known(name); function != nil {
		if least = function.NumIn(); function.IsVariadic() {
			least--
		} else {
			most = least
		}
	}
	if given < least || given > most {
		g.refuse(name, "%s takes %d arguments, not %d", name.Ident, least, given)
	}
}

// known returns one of our functions, nil for one of text/template's, and refuses the
// name of any other.
func (g *guard) known(name *parse.IdentifierNode) reflect.Type {
	switch name.Ident {
	case "and", "or", "not":
		return nil
	}
	function := reflect.TypeOf(new(run).functions()[name.Ident])
	if function == nil || strings.HasPrefix(name.Ident, "_") {
		g.refuse(name, "there is no function %s in hooks", name.Ident)
		return nil
	}
	return function
}

// argument returns an argument in which names of fields are calls.
func (g *guard) argument(arg parse.Node, in scope) parse.Node {
	switch arg := arg.(type) {
	case *parse.PipeNode:
		g.pipe(arg, in)
	case *parse.ChainNode:
		return fieldCall(arg.Pos, g.argument(arg.Node, in), arg.Field)
	case *parse.FieldNode:
		if in.root {
			g.data(arg, arg.Ident[0])
		}
		return fieldCall(arg.Pos, &parse.DotNode{NodeType: parse.NodeDot, Pos: arg.Pos}, arg.Ident)
	case *parse.VariableNode:
		if len(arg.Ident) == 1 {
			break
		}
		if arg.Ident[0] == "$" {
			g.data(arg, arg.Ident[1])
		}
		variable := &parse.VariableNode{NodeType: parse.NodeVariable, Pos: arg.Pos, Ident: arg.Ident[:1]}
		return fieldCall(arg.Pos, variable, arg.Ident[1:])
	case *parse.IdentifierNode:
		if arg.Ident != "" {
			g.known(arg)
		}
	}
	return arg
}

// data refuses a name at the top that a template is not given.
func (g *guard) data(node parse.Node, name string) {
	if name != "payload" && name != "headers" {
		g.refuse(node, "there is .payload and .headers, and no .%s", name)
	}
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
