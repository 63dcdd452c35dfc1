package hooks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"

	template "github.com/DataDog/datadog-agent/pkg/template/text"

	"bridged/internal/bridge"
)

// maxRanges is how many ranges may stand within one another.
const maxRanges = 2

// checker looks for what a template must not do.
type checker struct {
	tree *parse.Tree
	err  error // the first problem
}

// check refuses a template that could run long, or that names what there is not.
// Without define, template and loops over numbers all that repeats is a range
// over a payload's list, two deep.
func check(t *template.Template) error {
	for _, other := range t.Templates() {
		if other.Name() != templateName {
			return bridge.Invalid("template: define, block and template cannot be used in hooks (%s)", other.Name())
		}
	}
	if t.Tree == nil {
		return bridge.Invalid("template must have something to say")
	}
	c := &checker{tree: t.Tree}
	c.list(t.Root, scope{root: true})
	return c.err
}

// scope is what surrounds a node.
type scope struct {
	ranges int  // how many ranges
	root   bool // whether the dot is the template's data
}

func (c *checker) refuse(node parse.Node, format string, args ...any) {
	if c.err != nil {
		return
	}
	location, _ := c.tree.ErrorContext(node)
	c.err = bridge.Invalid("template: %s", placed("template: "+location+": ", fmt.Sprintf(format, args...)))
}

func (c *checker) list(list *parse.ListNode, in scope) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		c.node(node, in)
	}
}

func (c *checker) node(node parse.Node, in scope) {
	switch node := node.(type) {
	case *parse.TextNode, *parse.CommentNode, *parse.BreakNode, *parse.ContinueNode:
	case *parse.ActionNode:
		c.pipe(node.Pipe, in)
	case *parse.IfNode:
		c.branch(&node.BranchNode, in, in)
	case *parse.WithNode:
		c.branch(&node.BranchNode, in, scope{ranges: in.ranges})
	case *parse.RangeNode:
		if in.ranges == maxRanges {
			c.refuse(node, "at most %d ranges may stand within one another", maxRanges)
			return
		}
		if isNumber(node.Pipe) {
			c.refuse(node, "range goes over lists and objects, not over numbers")
		}
		c.branch(&node.BranchNode, in, scope{ranges: in.ranges + 1})
	default:
		c.refuse(node, "%s cannot be used in hooks", node)
	}
}

// branch checks an if, with or range whose list has a scope of its own.
func (c *checker) branch(node *parse.BranchNode, in, within scope) {
	c.pipe(node.Pipe, in)
	c.list(node.List, within)
	c.list(node.ElseList, in)
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

func (c *checker) pipe(pipe *parse.PipeNode, in scope) {
	for i, cmd := range pipe.Cmds {
		c.command(cmd, i > 0, in)
	}
}

func (c *checker) command(cmd *parse.CommandNode, piped bool, in scope) {
	given := len(cmd.Args) - 1
	if piped {
		given++
	}
	if name, isFunction := cmd.Args[0].(*parse.IdentifierNode); isFunction {
		c.call(name, given)
	} else if given > 0 {
		c.refuse(cmd, "%s is no function", cmd.Args[0])
	}
	for _, arg := range cmd.Args {
		c.argument(arg, in)
	}
}

// call checks the name of a function and how many arguments it is given.
func (c *checker) call(name *parse.IdentifierNode, given int) {
	least, most := 1, given // of and, or
	if name.Ident == "not" {
		most = 1
	}
	if function := c.known(name); function != nil {
		if least = function.NumIn(); function.IsVariadic() {
			least--
		} else {
			most = least
		}
	}
	if given < least || given > most {
		c.refuse(name, "%s takes %d arguments, not %d", name.Ident, least, given)
	}
}

// known returns one of our functions, nil for one of text/template's, and refuses the
// name of any other.
func (c *checker) known(name *parse.IdentifierNode) reflect.Type {
	switch name.Ident {
	case "and", "or", "not":
		return nil
	}
	function := reflect.TypeOf(new(run).functions()[name.Ident])
	if function == nil || strings.HasPrefix(name.Ident, "_") {
		c.refuse(name, "there is no function %s in hooks", name.Ident)
		return nil
	}
	return function
}

func (c *checker) argument(arg parse.Node, in scope) {
	switch arg := arg.(type) {
	case *parse.PipeNode:
		c.pipe(arg, in)
	case *parse.ChainNode:
		c.argument(arg.Node, in)
	case *parse.FieldNode:
		if in.root {
			c.data(arg, arg.Ident[0])
		}
	case *parse.VariableNode:
		if arg.Ident[0] == "$" && len(arg.Ident) > 1 {
			c.data(arg, arg.Ident[1])
		}
	case *parse.IdentifierNode:
		if arg.Ident != "" {
			c.known(arg)
		}
	}
}

// data refuses a name at the top that a template is not given.
func (c *checker) data(node parse.Node, name string) {
	if name != "payload" && name != "headers" {
		c.refuse(node, "there is .payload and .headers, and no .%s", name)
	}
}
