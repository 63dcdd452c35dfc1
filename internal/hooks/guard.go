package hooks

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"

	"bridged/internal/bridge"
)

// maxRanges limits the nesting of ranges.
const maxRanges = 2

// The guard inserts calls of these functions into a template. Authors of templates cannot use
// their names.
const (
	fnShow  = "_show"  // ends a pipeline that prints
	fnOver  = "_over"  // ends the list of a range
	fnStep  = "_step"  // starts an iteration of a range
	fnField = "_field" // replaces .a.b
)

// guard checks and rewrites a template. It refuses nodes that could run for long and names that
// do not exist. It rewrites the others to call functions that limit a run, show text of the
// payload without markup, and accept missing fields. text/template itself has no limits, but a
// language of our own would have to be learned.
type guard struct {
	tree *parse.Tree
	err  error // the first problem
}

// secure refuses or rewrites a template. Without define, template and loops over numbers, only
// ranges over the payload's lists repeat anything, and they nest at most two deep.
func secure(t *template.Template) error {
	for _, other := range t.Templates() {
		if other.Name() != templateName {
			return bridge.Invalid("template: define, block and template cannot be used in hooks (%s)", other.Name())
		}
	}
	if t.Tree == nil {
		return bridge.Invalid("template must not be empty")
	}
	g := &guard{tree: t.Tree}
	g.list(t.Root, scope{root: true})
	return g.err
}

// scope describes the surroundings of a node.
type scope struct {
	ranges int  // number of enclosing ranges
	root   bool // the dot is the template's data
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

// branch checks an if, with or range. Its list has its own scope, within.
func (g *guard) branch(node *parse.BranchNode, in, within scope) {
	g.pipe(node.Pipe, in)
	g.list(node.List, within)
	g.list(node.ElseList, in)
}

func (g *guard) loop(node *parse.RangeNode, in scope) {
	if in.ranges == maxRanges {
		g.refuse(node, "ranges may be nested at most %d deep", maxRanges)
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

// appendCall appends a function call to a pipeline.
func appendCall(pipe *parse.PipeNode, name string) {
	call := parse.NewIdentifier(name).SetPos(pipe.Pos)
	pipe.Cmds = append(pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pipe.Pos, Args: []parse.Node{call}})
}

// isNumber reports whether a pipeline is a constant number.
func isNumber(pipe *parse.PipeNode) bool {
	last := pipe.Cmds[len(pipe.Cmds)-1].Args[0]
	if inner, ok := last.(*parse.PipeNode); ok {
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
			g.refuse(cmd, "%s is not a function", cmd.Args[0])
		}
		for i, arg := range cmd.Args {
			cmd.Args[i] = g.argument(arg, in)
		}
	}
}

// call checks the name of a function and the number of its arguments.
func (g *guard) call(name *parse.IdentifierNode, given int) {
	least, most := 1, given // for "and" and "or"
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
		g.refuse(name, "%s needs %d arguments, not %d", name.Ident, least, given)
	}
}

// known returns the type of one of our functions, or nil for a function of text/template. It
// refuses all other names.
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

// argument returns an argument with its field names replaced by calls.
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

// data refuses a top-level name that is not part of a template's data.
func (g *guard) data(node parse.Node, name string) {
	if name != "payload" && name != "headers" {
		g.refuse(node, "there is .payload and .headers, and no .%s", name)
	}
}

// fieldCall returns the pipeline that looks names up in a value.
func fieldCall(pos parse.Pos, of parse.Node, names []string) parse.Node {
	args := []parse.Node{parse.NewIdentifier(fnField).SetPos(pos), of}
	for _, name := range names {
		args = append(args, &parse.StringNode{NodeType: parse.NodeString, Pos: pos, Quoted: strconv.Quote(name), Text: name})
	}
	cmd := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: args}
	return &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{cmd}}
}
