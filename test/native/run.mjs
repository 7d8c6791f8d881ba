// Runs the tests of transparent capture in a network namespace of their own, so that the machine's firewall is not touched. What is missing for that
// is said, and is a failure where REQUIRE_TPROXY=1.
import { spawnSync } from "node:child_process"
import { existsSync, readlinkSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

const skip = (reason) => {
  process.stdout.write(`Skipped: ${reason}\n`)
  process.exit(process.env.REQUIRE_TPROXY === "1" ? 1 : 0)
}

if (process.platform !== "linux") skip("transparent capture is for Linux.")
if (!existsSync(`${root}native/tproxy/build/Release/tproxy.node`))
  skip("the addon is not built; run 'npm run build:native'.")

// USER_NAMESPACE=1: without the rights of root outside of it, also when root starts this.
const isRoot = process.getuid() === 0 && process.env.USER_NAMESPACE !== "1"
const namespace = [isRoot ? "-nm" : "-Urnm", "--pid", "--fork", "--kill-child", "--mount-proc"]
const probe = "ip link set lo up && (iptables -t mangle -S || nft list tables)"
const path = `${process.env.PATH}:/usr/sbin:/sbin`
const tried = spawnSync("unshare", [...namespace, "sh", "-c", probe], {
  env: { ...process.env, PATH: path },
  encoding: "utf8"
})
if (tried.error !== undefined) skip(`'unshare' is not there: ${tried.error.message}`)
if (tried.status !== 0) skip(`there are no network namespaces with a firewall here: ${tried.stderr.trim()}`)

const vitest = `${root}node_modules/vitest/vitest.mjs`
const { status } = spawnSync(
  "unshare",
  [
    ...namespace,
    process.execPath,
    vitest,
    "run",
    "--config",
    "test/native/vitest.config.ts",
    "--configLoader",
    "runner",
    ...process.argv.slice(2)
  ],
  { cwd: root, env: { ...process.env, PATH: path, PARENT_NETNS: readlinkSync("/proc/self/ns/net") }, stdio: "inherit" }
)
process.exit(status ?? 1)
