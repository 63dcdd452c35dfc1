package hooks

import (
	"strconv"
	"text/template/parse"
)

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
