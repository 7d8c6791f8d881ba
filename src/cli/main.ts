/** The program's entry. A plain start goes straight to the server; the command-line library is loaded only for the rest. */
import { readServeArgv } from "./flags/serveOptions.ts"

const flags = readServeArgv(process.argv.slice(2))
if (flags === null) void import("./Cli.ts").then(({ main }) => main(process.argv))
else
  void Promise.all([import("./serve.ts"), import("./describing.ts")]).then(([{ main }, { describing }]) =>
    main(flags, describing)
  )
