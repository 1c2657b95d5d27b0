// Package declare keeps resources as YAML files: what a store holds is written
// to them, and what they say is made to hold.
//
// There are two forms, which say the same. A seed file is one document that has
// the plural nouns as members:
//
//	organizationUnits:
//	  - {handle: customers, name: Customers}
//	applications:
//	  - {name: Shop, ouId: customers, authFlowId: sign-in}
//
// A tree is a folder with a file for each resource, in a folder for each noun:
// organization-units/customers.yaml, flows/authentication/sign-in.yaml. How a
// file is called is for people; what it declares stands in it.
//
// Files refer to other resources by handle, name or username, or by id. A secret
// stands in no file: where it belongs, {env: NAME} or {file: PATH} says where it
// is found. A resource is matched with one that is there by its id, and else by
// its key; it then is that one, and keeps that one's id.
//
// Whatever is wrong in files is told at once, with file, line and column.
package declare
