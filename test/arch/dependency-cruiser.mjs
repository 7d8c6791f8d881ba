// Which files may use what of Node and of packages. The floors are in layers.mjs, checked by floors.mjs.

export default {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    {
      name: "cli-loads-server-lazily",
      severity: "error",
      comment:
        "The CLI starts fast because the server is imported only when it is needed. src/agents/tools and src/subjects/declared are pure and small, and so are the single files named here.",
      from: { path: "^src/(cli/|subjects/[^/]+/commands)" },
      to: {
        path: "^src/(?!cli/|contract/|kernel/|platform/|agents/tools/|subjects/(declared/|[^/]+/(commands|routes|entity)))",
        pathNot:
          "^src/(net/egress/proxy/(EnvironmentProxy|ProxiedSocket)|plane/(providers/(ChatModels|ModelFacts)|routing/resolve/ModelIds)|wire/(json/Json|sse/SseFramer)|agents/mcp/protocol/JsonRpc)\\.ts$",
        dependencyTypesNot: ["dynamic-import", "type-only", "type-import"]
      }
    },
    {
      name: "node-only-in-platform",
      severity: "error",
      comment: "Adapters to Node live in src/platform; egress, store and tokens own their sockets, files and thread.",
      from: {
        path: "^src/(wire|contract|plane/(resilience|ledger|providers|routing)|observe/(simulation|usage)|subjects/(?!batches/|files/|[^/]+/(commands|repo|handlers)))/"
      },
      to: { path: "^(node:)?(fs|http|https|net|tls|child_process|dns|os|worker_threads)$" }
    },
    {
      name: "no-child-processes",
      severity: "error",
      comment:
        "The gateway starts no other program; 'gateway service' starts systemctl, 'gateway launch' the tool that was named; installed tools are asked for '--version' by platform/programs/AskVersion; Browser there opens the dashboard for the person who asks for it; LineProcess there starts the MCP servers that a person at the machine registered; SupervisedProgram the clients of tunnels; BoundedProgram what a plugin may start (plugins/sandbox/host/Exec); ProcessIdentity asks ps where there is no /proc; capture starts its watchdog, which runs the system's programs (capture/host).",
      from: {
        path: "^src/",
        pathNot:
          "^src/(cli/service/Systemctl|platform/programs/[A-Za-z]+|observe/capture/host/Watchdog)\\.ts$|^src/observe/capture/host/undo/(run|owner)\\.mjs$"
      },
      to: { path: "^(node:)?(child_process|cluster|inspector)(/|$)" }
    },
    {
      name: "sockets-in-their-rooms",
      severity: "error",
      comment:
        "The only way out is src/net/egress; src/entry listens; src/observe/capture passes on what other programs send; commands ask a gateway; store/valkey asks the server that gateways share; doctor tries whether a port is free; kernel/IpRanges reads addresses and opens nothing.",
      from: {
        path: "^src/",
        pathNot:
          "^src/(net/egress|entry|observe/capture)/|^src/(store/valkey/Connection|cli/(doctor/machine|gateway/(NodeHttp|Feed))|kernel/IpRanges)\\.ts$"
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
    {
      name: "dashboard-by-the-api",
      severity: "error",
      comment:
        "The dashboard knows the program by its API alone: it imports types of the contract, and nobody imports it.",
      from: { path: "^src/dashboard/" },
      to: {
        path: "^src/(?!dashboard/)|^(node:)?[a-z_]+$|^node_modules/(?!preact/|preact-iso/|@preact/signals|@tanstack/query-core/|uplot/|@codemirror/|@lezer/)",
        dependencyTypesNot: ["type-only", "type-import"]
      }
    },
    {
      name: "dashboard-for-browsers",
      severity: "error",
      from: { path: "^src/(?!dashboard/)" },
      to: { path: "^src/dashboard/" }
    },
    {
      name: "views-apart",
      severity: "error",
      comment: "Each view is a chunk of its own; what two of them need is in ui, api, live or forms.",
      from: { path: "^src/dashboard/views/([^/]+)/" },
      to: { path: "^src/dashboard/views/", pathNot: "^src/dashboard/views/$1/" }
    },
    { name: "not-to-test", severity: "error", from: { path: "^(src|bin)/" }, to: { path: "^(test|bench)/" } },
    {
      // Only packages with native code are installed with the program; the bundle holds the others, and these may be in it.
      name: "only-packages-of-the-program",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/dashboard/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        pathNot:
          "^node_modules/(@types|better-sqlite3|effect|@effect|undici|ws|find-my-way-ts|multipasta|semver|csv-parse|ipaddr\\.js|gpt-tokenizer|re2js|libphonenumber-js|@pydantic/genai-prices|jsonc-parser|yaml|@decimalturn/toml-patch|qrcode-generator|node-forge|nodemailer|redis-parser|openid-client|quickjs-emscripten-core|@jitl/quickjs-wasmfile-release-sync)/"
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
