// What the client uses of Node.
declare const process: { argv: string[] };
