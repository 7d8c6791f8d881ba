/** The network namespace that the tests run in: addresses, what of rules is in it, and programs. */
import { execFile, execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, readlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The tests change firewall rules: never outside of a namespace of their own. */
export const insist = (): void => {
  const parent = process.env["PARENT_NETNS"]
  if (parent === undefined || parent === "" || parent === readlinkSync("/proc/self/ns/net")) {
    throw new Error("Start these tests with 'npm run test:native': they need a network namespace of their own.")
  }
}

const sh = (command: string): string => execFileSync("sh", ["-c", command], { encoding: "utf8" })

/** Addresses that servers of the internet have here. */
export const internet = { v4: "10.88.0.10", v6: "fd88::10" }
/** As many servers of the internet, each with an address of both families: those of number 0 are `internet`. */
export const addressesOf = (number: number) => ({ v4: `10.88.0.${10 + number}`, v6: `fd88::${10 + number}` })
const servers = 8

export const prepare = (): void => {
  insist()
  sh("ip link set lo up")
  for (let number = 0; number < servers; number += 1) {
    const { v4, v6 } = addressesOf(number)
    sh(`ip addr replace ${v4}/32 dev lo && ip -6 addr replace ${v6}/128 dev lo nodad`)
  }
}

/** All that a session may have left, as text: policy rules, routes of its table, firewall rules. */
export const rulesNow = (routeTable = 233): string =>
  sh(`ip -4 rule; ip -6 rule; ip -4 route show table ${routeTable} 2>/dev/null; ip -6 route show table ${routeTable} 2>/dev/null
    iptables-save -t mangle 2>/dev/null | grep '^-A'; ip6tables-save -t mangle 2>/dev/null | grep '^-A'
    nft list tables 2>/dev/null | grep gateway_tproxy; true`)

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export const run = (program: string, args: ReadonlyArray<string>): Promise<Ran> =>
  new Promise((resolve) => {
    execFile(program, args, { encoding: "utf8", timeout: 20_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
    )
  })

/** Stand-ins for programs, first in `PATH`. `script` gets the real program's path as `$REAL`. */
export const standIns = (programs: ReadonlyArray<string>, script: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-stand-ins-"))
  for (const program of programs) {
    const real = sh(`command -v ${program}`).trim()
    writeFileSync(join(folder, program), `#!/bin/sh\nREAL=${real}\n${script.replaceAll("$FOLDER", folder)}\n`)
    chmodSync(join(folder, program), 0o755)
  }
  return folder
}
