// Builds the gateway and runs the agents against it: node test/agents/run.mjs [--suite work,failures] [--only claude,codex] [--up chat,messages] [--kind quota] [--keep]
//   --suite  work: each agent does a small task    failures: its provider refuses    compacting: its conversation outgrows the model    setup: set up by the gateway, with nothing else
//            operating: they operate the gateway over MCP and by its skills    mcp: they are given it by the commands of docs/mcp.md    libraries: the AI SDK and LangChain
//            company: people of a company work by them for a month, with keys of their own, up to a team's budget
//   --only   agents by name      --up  upstreams by name      --kind  kinds of refusal: quota, overflow, flagged
//   --keep   leave the folders of the runs, with all that was said in record.json
import { execFileSync, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const root = fileURLToPath(new URL("../..", import.meta.url))
const { values } = parseArgs({
  options: {
    suite: { type: "string" },
    only: { type: "string" },
    up: { type: "string" },
    kind: { type: "string" },
    keep: { type: "boolean" },
    "no-build": { type: "boolean" }
  }
})
if (!values["no-build"]) execFileSync(process.execPath, ["bin/build.mjs"], { cwd: root, stdio: "inherit" })

const vitest = spawn(
  process.execPath,
  ["node_modules/vitest/vitest.mjs", "run", "--config", "test/agents/vitest.config.ts"],
  {
    cwd: root,
    stdio: "inherit",
    env: {
      ...process.env,
      ...(values.suite === undefined ? {} : { AGENTS_SUITES: values.suite }),
      ...(values.kind === undefined ? {} : { AGENTS_KINDS: values.kind }),
      ...(values.only === undefined ? {} : { AGENTS_ONLY: values.only }),
      ...(values.up === undefined ? {} : { AGENTS_UP: values.up }),
      ...(values.keep ? { AGENTS_KEEP: "1" } : {})
    }
  }
)
vitest.on("exit", (code) => {
  process.exitCode = code ?? 1
})
