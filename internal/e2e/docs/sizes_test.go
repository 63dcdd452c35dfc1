package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// The limits of what one engineer can know well.
const (
	mostLines   = 5500 // of a package, without its tests
	mostFiles   = 40
	mostMethods = 80 // of a type
)

// largeTypes lists the types that have more methods, and why.
var largeTypes = map[string]string{
	"internal/client.Client": "has a method for each operation of the API",
	"internal/shell.Shell":   "has a method for each command",
	"internal/wa.Manager":    "has a method for each operation of the account",
	"internal/simnet.Phone":  "has a method for each thing that a person does with a phone",
}

// TestArchitecture_PackagesStaySmall checks the lines and files of packages, and the methods of types.
func TestArchitecture_PackagesStaySmall(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		files := token.NewFileSet()
		lines, methods := 0, make(map[string]int)
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(files, filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			lines += files.File(parsed.FileStart).LineCount()
			for _, decl := range parsed.Decls {
				if f, isFunc := decl.(*ast.FuncDecl); isFunc && f.Recv != nil {
					methods[receiver(f.Recv.List[0].Type)]++
				}
			}
		}
		if lines > mostLines || len(p.GoFiles) > mostFiles {
			t.Errorf("%s has %d lines in %d files, more than %d in %d", name, lines, len(p.GoFiles), mostLines, mostFiles)
		}
		for of, count := range methods {
			if count > mostMethods && largeTypes[name+"."+of] == "" {
				t.Errorf("%s.%s has %d methods, more than %d", name, of, count, mostMethods)
			}
		}
	}
}

// receiver returns the name of a method's type.
func receiver(expr ast.Expr) string {
	switch x := expr.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.Ident:
		return x.Name
	}
	return ""
}
