// The floors of ARCHITECTURE.md: a file imports from its own folder and from lower floors only.
const floors = [
  ["kernel", "platform"],
  ["domain", "wire", "store", "api"],
  ["resilience", "egress", "auth", "flags", "events"],
  [
    "providers",
    "routing",
    "usage",
    "tokens",
    "simulation",
    "webhooks",
    "ledger",
    "cache",
    "files",
    "compression",
    "guard",
    "memory",
    "skills",
    "tools",
    "declared",
    "tunnels",
    "inspector",
    "capture",
    "plugins"
  ],
  ["inference", "management", "evals", "search", "batches", "a2a", "mcp", "bridge", "playground"],
  ["http", "cli"],
  ["app"]
]

/** Neighbours on one floor that may be imported, beside a folder's own files. */
const neighbours = {
  platform: ["kernel"],
  wire: ["domain"],
  store: ["domain"],
  api: ["domain", "wire"],
  auth: ["flags", "events"],
  egress: ["flags"],
  resilience: ["flags", "events"],
  routing: ["providers", "usage"],
  usage: ["providers"],
  simulation: ["providers", "routing", "usage"],
  ledger: ["usage"],
  inspector: ["providers", "usage", "routing", "tokens"],
  capture: ["inspector"],
  plugins: ["inspector", "providers", "routing", "usage"],
  management: ["mcp"],
  evals: ["inference", "management"],
  search: ["inference"],
  batches: ["inference"],
  a2a: ["inference", "mcp"],
  bridge: ["inference"],
  playground: ["inference"]
}

/** The command line starts the server and opens the store, but only when it is told to: by dynamic import, never at start. */
const upward = { cli: { dependencyTypesNot: ["dynamic-import", "type-only", "type-import"] } }

const floorRules = floors.flatMap((floor, level) =>
  floor.map((folder) => {
    const allowed = [folder, ...(neighbours[folder] ?? []), ...floors.slice(0, level).flat()]
    return {
      name: `floor-${folder}`,
      severity: "error",
      comment: `src/${folder} may import from: ${allowed.join(", ")}`,
      from: { path: `^src/${folder}/` },
      to: { path: "^(src|bin)/", pathNot: `^src/(${allowed.join("|")})/`, ...upward[folder] }
    }
  })
)

export default {
  forbidden: [
    ...floorRules,
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "cli-loads-server-lazily",
      severity: "error",
      comment:
        "The CLI starts fast because the server is imported only when it is needed. src/agents/tools and src/subjects/declared are pure and small, and so are the single files named here.",
      from: { path: "^src/cli/" },
      to: {
        path: "^src/(?!cli|api|domain|kernel|platform|tools|declared)",
        pathNot:
          "^src/(egress/proxy/(EnvironmentProxy|ProxiedSocket)|providers/(ChatModels|ModelFacts)|routing/resolve/ModelIds|wire/(json/Json|sse/SseFramer)|mcp/protocol/JsonRpc)\\.ts$",
        dependencyTypesNot: ["dynamic-import", "type-only", "type-import"]
      }
    },
    {
      name: "node-only-in-platform",
      severity: "error",
      comment: "Adapters to Node live in src/platform; egress, store and tokens own their sockets, files and thread.",
      from: {
        path: "^src/(domain|wire|api|resilience|flags|events|ledger|providers|routing|simulation|usage|webhooks|management|evals)/"
      },
      to: { path: "^(node:)?(fs|http|https|net|tls|child_process|dns|os|worker_threads)$" }
    },
    {
      name: "no-child-processes",
      severity: "error",
      comment:
        "The gateway starts no other program; 'gateway service' starts systemctl, 'gateway launch' the tool that was named; installed tools are asked for '--version' by platform/AskVersion; platform/LineProcess starts the MCP servers that a person at the machine registered; platform/SupervisedProgram the clients of tunnels; platform/BoundedProgram what a plugin may start (plugins/sandbox/host/Exec); platform/ProcessIdentity asks ps where there is no /proc; capture starts its watchdog, which runs the system's programs (capture/host).",
      from: {
        path: "^src/",
        pathNot:
          "^src/(cli/(service/Systemctl|launch/Exec)|platform/(AskVersion|BoundedProgram|ChildGroup|LineProcess|ProcessIdentity|SupervisedProgram)|capture/host/Watchdog)\\.ts$|^src/observe/capture/host/undo/(run|owner)\\.mjs$"
      },
      to: { path: "^(node:)?(child_process|cluster|inspector)(/|$)" }
    },
    {
      name: "sockets-in-their-rooms",
      severity: "error",
      comment:
        "The only way out is src/net/egress; src/entry listens; src/observe/capture passes on what other programs send; commands ask a gateway; doctor tries whether a port is free; kernel/IpRanges reads addresses and opens nothing.",
      from: {
        path: "^src/",
        pathNot:
          "^src/(egress|http|capture)/|^src/(cli/(doctor/machine|gateway/(NodeHttp|InspectorFeed))|kernel/IpRanges)\\.ts$"
      },
      to: {
        path: "^(node:)?(http2?|https|net|tls|dgram|dns)(/|$)|(^|/)node_modules/(undici|ws)(/|$)",
        dependencyTypesNot: ["type-only", "type-import"]
      }
    },
    {
      name: "http-calls-nobody",
      severity: "error",
      comment: "src/entry only listens; a call goes out through src/net/egress.",
      from: { path: "^src/entry/" },
      to: {
        path: "^(node:)?(https|tls|dgram|dns)(/|$)|(^|/)node_modules/undici(/|$)",
        dependencyTypesNot: ["type-only", "type-import"]
      }
    },
    { name: "not-to-test", severity: "error", from: { path: "^(src|bin)/" }, to: { path: "^(test|bench)/" } },
    {
      // Only packages with native code are installed with the program; the bundle holds the others, and these may be in it.
      name: "only-packages-of-the-program",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/demo/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        pathNot:
          "^node_modules/(@types|effect|@effect|undici|ws|find-my-way-ts|multipasta|csv-parse|ipaddr\\.js|gpt-tokenizer|re2js|libphonenumber-js|@pydantic/genai-prices|jsonc-parser|yaml|@decimalturn/toml-patch|qrcode-generator|node-forge|nodemailer|quickjs-emscripten-core|@jitl/quickjs-wasmfile-release-sync)/"
      }
    }
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    moduleSystems: ["es6"],
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node", "default", "types"] }
  }
}
