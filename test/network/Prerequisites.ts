/** Whether this machine can run the suites of this folder. */
import { execFileSync, spawnSync } from "node:child_process"

const programs = [
  "ip",
  "nft",
  "tcpdump",
  "openssl",
  "danted",
  "microsocks",
  "tinyproxy",
  "squid",
  "sshd",
  "ssh-keygen"
] as const

/** Debian keeps most of them where only root's PATH leads. */
export const pathOfPrograms = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin:/usr/local/sbin`

const isInstalled = (program: string): boolean =>
  spawnSync("sh", ["-c", `command -v ${program}`], { env: { PATH: pathOfPrograms } }).status === 0

const canMakeNamespaces = (): boolean => {
  const name = `gwnet${process.pid}x`
  const env = { PATH: pathOfPrograms }
  if (spawnSync("ip", ["netns", "add", name], { env }).status !== 0) return false
  const works = spawnSync("ip", ["netns", "exec", name, "nft", "list", "ruleset"], { env }).status === 0
  execFileSync("ip", ["netns", "del", name], { env })
  return works
}

const reasonToSkip = (): string | null => {
  if (process.platform !== "linux") return "network namespaces need Linux"
  if (process.getuid?.() !== 0) return "network namespaces need root"
  const missing = programs.filter((program) => !isInstalled(program))
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`
  return canMakeNamespaces() ? null : "this machine does not allow network namespaces with packet filters"
}

/** Why the suites are skipped; null when they run. */
export const skipped = reasonToSkip()
if (skipped !== null) process.stderr.write(`test/network is skipped: ${skipped}.\n`)
