/** Starts the transparent mode, says so on standard output, and waits to be killed. Argument: its data folder. */
import { makeMode } from "./Mode.ts"

const [dataDir] = process.argv.slice(-1)
const mode = makeMode({
  sink: { begin: () => "", update: () => {}, finish: () => {} },
  internet: "",
  ...(dataDir === undefined ? {} : { dataDir })
})
await mode.start()
process.stdout.write("running\n")
process.stdin.resume()
