// Package declare represents resources as YAML files: it exports a store to files and
// applies files to a store.
//
// There are two equivalent forms. A seed file is one document with the plural nouns as
// members:
//
//	organizationUnits:
//	  - {handle: customers, name: Customers}
//	applications:
//	  - {name: Shop, ouId: customers, authFlowId: sign-in}
//
// A tree is a folder with a file for each resource, in a folder for each noun:
// organization-units/customers.yaml, flows/authentication/sign-in.yaml. File names are for
// people only; the content identifies the resource.
//
// Files refer to other resources by handle, name or username, or by id. Files contain no
// secrets: {env: NAME} or {file: PATH} in place of a secret names its source. A declared
// resource matches an existing one by id, otherwise by key, and then keeps the existing id.
//
// All faults in files are reported at once, with file, line and column.
package declare
