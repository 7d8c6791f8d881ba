// Real agents, unmodified, through the agent bridge: node test/agents/bridge/run.mjs [--only claude-code,open-code] [--keep] [--no-build]
// They run in a network and a mount namespace of their own, in which the internet is one faked server and nothing of the machine's /etc is
// changed. What is missing for that is said, and is a failure where REQUIRE_BRIDGE=1.
import { execFileSync, spawnSync } from "node:child_process"
import { readlinkSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("../../..", import.meta.url))
const { values } = parseArgs({
  options: { only: { type: "string" }, keep: { type: "boolean" }, "no-build": { type: "boolean" } }
})
const env = {
  ...process.env,
  PATH: `${process.env.PATH}:/usr/sbin:/sbin`,
  ...(values.only === undefined ? {} : { AGENTS_ONLY: values.only }),
  ...(values.keep ? { AGENTS_KEEP: "1" } : {})
}

const skip = (reason) => {
  process.stdout.write(`Skipped: ${reason}\n`)
  process.exit(process.env.REQUIRE_BRIDGE === "1" ? 1 : 0)
}

if (process.platform !== "linux") skip("network namespaces are for Linux.")

// As root of a user namespace where it is not root: the tests then own what they mount.
const namespace = [process.getuid() === 0 ? "-nm" : "-Urnm", "--pid", "--fork", "--kill-child", "--mount-proc"]
const probe = `ip link set lo up && mount -t tmpfs tmpfs /mnt && mkdir /mnt/up /mnt/work &&
  mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/up,workdir=/mnt/work /etc && echo >> /etc/hosts`
const tried = spawnSync("unshare", [...namespace, "sh", "-c", probe], { env, encoding: "utf8" })
if (tried.error !== undefined) skip(`'unshare' is not there: ${tried.error.message}`)
if (tried.status !== 0) skip(`there are no namespaces with a network and an /etc of their own: ${tried.stderr.trim()}`)

if (!values["no-build"]) execFileSync(process.execPath, ["bin/build.mjs"], { cwd: root, stdio: "inherit" })

// There is no registry in the namespace.
const installed = spawnSync(
  process.execPath,
  ["node_modules/vite-node/vite-node.mjs", "test/agents/bridge/install.ts"],
  { cwd: root, env, stdio: "inherit" }
)
if (installed.status !== 0) skip("the agents cannot be installed from the npm registry.")

const { status } = spawnSync(
  "unshare",
  [
    ...namespace,
    process.execPath,
    "node_modules/vitest/vitest.mjs",
    "run",
    "--config",
    "test/agents/bridge/vitest.config.ts",
    "--configLoader",
    "runner"
  ],
  { cwd: root, env: { ...env, PARENT_NETNS: readlinkSync("/proc/self/ns/net") }, stdio: "inherit" }
)
process.exit(status ?? 1)
