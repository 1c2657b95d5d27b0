package main

type flowCommands struct {
	New      flowNewCommand      `cmd:"" help:"Copy a recipe, a flow for a common need with its scenarios, into a folder."`
	Check    flowCheckCommand    `cmd:"" help:"Check and prove flow files; every finding is printed with its line."`
	Explain  flowExplainCommand  `cmd:"" help:"Explain why a rule exists and how to fix violations."`
	Graph    flowGraphCommand    `cmd:"" help:"Draw a flow, with the facts that hold at each node."`
	Fmt      flowFmtCommand      `cmd:"" help:"Format flow and scenario files."`
	Diff     flowDiffCommand     `cmd:"" help:"Compare the meaning of two flows: files, or versions on a server. The exit code is 1 if they differ."`
	Push     flowPushCommand     `cmd:"" help:"Store flows on a server as new versions."`
	Pull     flowPullCommand     `cmd:"" help:"Write the flows of a server to files."`
	Versions flowVersionsCommand `cmd:"" help:"List the versions of a flow on a server."`
	Delete   flowDeleteCommand   `cmd:"" help:"Delete a flow of a server, with all versions."`
	Restore  flowRestoreCommand  `cmd:"" help:"Restore an older version of a flow as its newest."`
	Reset    flowResetCommand    `cmd:"" help:"Make the built-in flow of this release the next version of a modified one."`
	Play     flowPlayCommand     `cmd:"" help:"Step through a run of a flow in the terminal, with simulated devices and services."`
	Draft    flowDraftCommand    `cmd:"" help:"Draft scenarios for the outcomes of a flow that none reaches."`
	Test     flowTestCommand     `cmd:"" help:"Run the scenario tests of flow files."`
}
