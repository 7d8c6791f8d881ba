/** Prints the files with a failure of a report of vitest, a line each. */
import { readFileSync } from "node:fs"
import { relative } from "node:path"

const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"))
for (const { name, status } of testResults)
  if (status === "failed") process.stdout.write(`${relative(process.cwd(), name)}\n`)
