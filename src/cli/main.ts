/** The program's entry. A plain start goes straight to the server; the command-line library is loaded only for the rest. */
import { readServeArgv } from "./serveOptions.ts"

const flags = readServeArgv(process.argv.slice(2))
if (flags === null) {
  const { main } = await import("./Cli.ts")
  main(process.argv)
} else {
  const { main } = await import("./serve.ts")
  main(flags)
}
