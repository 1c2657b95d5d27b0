package main

type flowCommands struct {
	Check    flowCheckCommand    `cmd:"" help:"Check and prove flow files; every finding is printed with its line."`
	Explain  flowExplainCommand  `cmd:"" help:"Tell why a rule exists and how to mend what breaks it."`
	Graph    flowGraphCommand    `cmd:"" help:"Draw a flow, with what is certain where."`
	Diff     flowDiffCommand     `cmd:"" help:"Compare what two flows mean. The exit code is 1 if they differ."`
	Push     flowPushCommand     `cmd:"" help:"Store flows on a server, each as the next version of what it has."`
	Pull     flowPullCommand     `cmd:"" help:"Write the flows of a server as files."`
	Versions flowVersionsCommand `cmd:"" help:"List the versions that a server has of a flow."`
	Restore  flowRestoreCommand  `cmd:"" help:"Make an older version of a flow the next one."`
	Test     flowTestCommand     `cmd:"" help:"Run the scenario tests of flow files."`
}
