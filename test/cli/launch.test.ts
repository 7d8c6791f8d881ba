/** `gateway launch`: the tool's exit code is the command's, and signals reach the tool once. */
import { assert, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { program } from "./support.ts"
import { nodeFlags } from "./built.ts"

const { dataDir, main, serve } = program()

/** Counts signals until it is told to end. */
const tool = `#!${process.execPath}
const got = []
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => { got.push(signal); console.log("got " + signal) })
process.stdin.on("data", () => { console.log("all " + got.join()); process.exit(Number(process.env.TOOL_CODE)) })
console.log("started")
`

it("gives the tool's own exit code, and every signal once", async () => {
  const DATA_DIR = dataDir()
  const GATEWAY_ADMIN_KEY = "admin-key-of-launch-0001"
  const server = await serve({ DATA_DIR, GATEWAY_ADMIN_KEY })
  const folder = join(DATA_DIR, "programs")
  mkdirSync(folder)
  writeFileSync(join(folder, "claude"), tool, { mode: 0o755 })
  for (const [signal, code] of [
    [null, 0],
    [null, 7],
    ["SIGTERM", 0],
    ["SIGINT", 3],
    ["SIGHUP", 7]
  ] as const) {
    const child = spawn(process.execPath, [...nodeFlags, main, "launch", "claude", "--url", server.url], {
      env: {
        PATH: `${folder}:${process.env["PATH"] ?? ""}`,
        HOME: DATA_DIR,
        DATA_DIR,
        GATEWAY_ADMIN_KEY,
        TOOL_CODE: String(code)
      },
      stdio: ["pipe", "pipe", "inherit"]
    })
    const ended = once(child, "exit")
    const lines: Array<string> = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      if (line === "started" && signal !== null) child.kill(signal)
      else if (line === "started" || line.startsWith("got")) child.stdin.write("end\n")
    }
    assert.deepStrictEqual(await ended, [code, null], lines.join("\n"))
    assert.deepStrictEqual(lines, ["started", ...(signal === null ? ["all "] : [`got ${signal}`, `all ${signal}`])])
  }
  await server.stop("SIGTERM")
})
