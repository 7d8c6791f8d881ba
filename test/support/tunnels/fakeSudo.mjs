#!/usr/bin/env node
// Stands for `sudo`, with the texts of 1.9.13. $HOME/sudo.json has the password, null for a user who needs none. Programs of the test's own
// folder are run, others are only written down.
import { spawnSync } from "node:child_process"
import { appendFileSync, readFileSync } from "node:fs"
import { join } from "node:path"

const home = process.env.HOME
const { allowed = true, password } = JSON.parse(readFileSync(join(home, "sudo.json"), "utf8"))
const all = process.argv.slice(2)
const at = all.indexOf("--")
const flags = all.slice(0, at)
const [program, ...args] = all.slice(at + 1)
const note = (fields) =>
  appendFileSync(
    join(home, "calls.jsonl"),
    `${JSON.stringify({ program: "sudo", flags, command: [program, ...args], environment: Object.keys(process.env).toSorted(), ...fields })}\n`
  )
const refuse = (text) => {
  process.stderr.write(`${text}\n`)
  note({ isRefused: true })
  process.exit(1)
}

if (!allowed) refuse("me is not in the sudoers file.")
if (password !== null && flags.includes("-n")) refuse("sudo: a password is required")
if (password !== null) {
  const given = readFileSync(0, "utf8").split("\n", 1)[0]
  if (given !== password)
    refuse("Sorry, try again.\nsudo: no password was provided\nsudo: 1 incorrect password attempt")
}
note({ isRefused: false })
if (program.startsWith(home)) {
  const { status } = spawnSync(program, args, {
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, FAKE_ROOT: "1" }
  })
  process.exit(status ?? 1)
}
process.stdout.write(`${program} ${args.join(" ")}\n`)
