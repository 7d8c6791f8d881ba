/** The commands about connections to providers, and of nodes. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromNodes = from(() => import("./nodes.ts"))
const fromList = from(() => import("./list.ts"))
const fromAdd = from(() => import("./add.ts"))
const fromLogin = from(() => import("./login.ts"))
const fromShow = from(() => import("./show.ts"))
const fromEdit = from(() => import("./edit.ts"))
const fromChange = from(() => import("./change.ts"))
const fromAvailable = from(() => import("./available.ts"))
const fromTest = from(() => import("./test.ts"))
const fromValidate = from(() => import("./validate.ts"))

const nodes = group(
  "nodes",
  "Providers of your own: an address and the wires it speaks.",
  [
    fromNodes("list", "nodesList", "List the providers of your own.", { ...list, examples: ["provider nodes list"] }),
    fromNodes("show", "nodesShow", "Show a provider of your own.", {
      aliases: ["get"],
      examples: ["provider nodes show cellar"]
    }),
    fromNodes("edit", "nodesEdit", "Change the address, the wires or the name of one.", {
      aliases: ["update", "set"],
      examples: ["provider nodes edit cellar --base-url http://10.0.0.5:8080/v1"]
    }),
    fromNodes("remove", "nodesRemove", "Remove one that has no connections, or with them.", {
      ...remove,
      examples: ["provider nodes remove cellar --with-connections"]
    })
  ],
  {
    aliases: ["node"],
    examples: [
      "provider add custom --name cellar --base-url http://127.0.0.1:8080/v1 --wire chat",
      "provider nodes list"
    ]
  }
)

const provider = group(
  "provider",
  "Connections to providers, and the catalogue of known ones; see proxy.",
  [
    fromList("list", "providerList", "List the connections to providers.", {
      ...list,
      examples: ["provider list", "provider list -o wide", "provider list --local --json"]
    }),
    fromAdd("add", "providerAdd", "Connect a provider.", {
      ...add,
      examples: [
        "provider add openai",
        "provider add anthropic --api-key-env ANTHROPIC_API_KEY --name work",
        "provider add custom --name cellar --base-url http://127.0.0.1:8080/v1 --wire chat"
      ]
    }),
    fromLogin("login", "providerLogin", "Sign in at a provider with an account, and connect it.", {
      aliases: ["signin"],
      examples: ["provider login github --client-id Iv1.example", "provider login codex --import-stdin"]
    }),
    fromShow("show", "providerShow", "Show a connection with its state, its settings and its quotas.", {
      aliases: ["get"],
      examples: ["provider show work", "provider show openai --json"]
    }),
    fromEdit("edit", "providerEdit", "Change a connection: name, address, key, models, limits.", {
      aliases: ["update", "set"],
      examples: [
        "provider edit work --name private --priority 1",
        "provider edit work --ask-key",
        "provider edit work --api-key-env OPENAI_API_KEY",
        "provider edit cellar --base-url http://10.0.0.5:8080/v1 --max-concurrent 2"
      ]
    }),
    fromChange("remove", "providerRemove", "Remove a connection and its key.", {
      ...remove,
      examples: ["provider remove work", "provider remove work --yes"]
    }),
    fromChange("enable", "providerEnable", "Use a connection again that was switched off.", {
      examples: ["provider enable work"]
    }),
    fromChange("disable", "providerDisable", "Keep a connection, but do not use it.", {
      examples: ["provider disable work"]
    }),
    fromAvailable("available", "providersAvailable", "List the providers that the gateway knows.", {
      aliases: ["catalog"],
      examples: ["provider available --search groq", "provider available --category local --json"]
    }),
    fromTest("test", "providersTest", "Ask one connection a tiny question.", {
      examples: ["provider test openai"]
    }),
    fromTest("test-all", "providersTestAll", "Ask every active connection a tiny question.", {
      examples: ["provider test-all --json"]
    }),
    fromValidate("validate", "providersValidate", "Check whether connections are complete and their keys accepted.", {
      examples: ["provider validate", "provider validate --offline --json"]
    }),
    nodes
  ],
  {
    section: "Connect",
    skill: "cli-providers",
    aliases: ["providers"],
    examples: ["provider available --search groq", "provider add openai", "provider list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [provider]
