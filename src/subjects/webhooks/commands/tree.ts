/** The commands about webhooks. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromShow = from(() => import("./show.ts"))
const fromChange = from(() => import("./change.ts"))

const webhook = group(
  "webhook",
  "Addresses that are told what happens, by signed requests; see plugin.",
  [
    fromShow("list", "webhookList", "List the webhooks, and how their last deliveries went.", {
      ...list,
      examples: ["webhook list", "webhook list --json"]
    }),
    fromChange("add", "webhookAdd", "Send events to an address. Its secret is printed, alone on stdout.", {
      ...add,
      examples: [
        "webhook add https://hooks.example.com/gateway",
        "webhook add https://hooks.slack.com/services/T/B/X --kind slack --event provider.error",
        "webhook add smtps://mx.example.com --kind email --from gw@example.com --mail-to me@x.com",
        "webhook add https://hooks.slack.com/services/T/B/X --kind slack --quiet 22:00-07:00"
      ]
    }),
    fromShow("test", "webhookTest", "Send a test.ping now, once.", {
      aliases: ["ping"],
      examples: ["webhook test https://hooks.example.com/gateway"]
    }),
    fromChange("remove", "webhookRemove", "Remove a webhook.", {
      ...remove,
      examples: ["webhook remove https://hooks.example.com/gateway"]
    }),
    fromShow("deliveries", "webhookDeliveries", "List the last 100 attempts to reach a webhook.", {
      aliases: ["log"],
      examples: ["webhook deliveries https://hooks.example.com/gateway"]
    }),
    fromShow("retry", "webhookRetry", "Send an event again whose last attempt failed.", {
      examples: ["webhook retry https://hooks.example.com/gateway 42"]
    }),
    fromShow("show", "webhookShow", "Show a webhook with its secret.", {
      aliases: ["get"],
      examples: ["webhook show https://hooks.example.com/gateway"]
    }),
    fromChange("edit", "webhookEdit", "Change a webhook: address, events, secret, kind, quiet hours.", {
      aliases: ["update", "set"],
      examples: ["webhook edit https://hooks.example.com/gateway --event request.failed"]
    }),
    fromChange("enable", "webhookEnable", "Send events to a webhook again, and those that waited.", {
      examples: ["webhook enable https://hooks.example.com/gateway"]
    }),
    fromChange("disable", "webhookDisable", "Keep a webhook, but send it nothing.", {
      examples: ["webhook disable https://hooks.example.com/gateway"]
    })
  ],
  {
    section: "Watch",
    skill: "cli-policy-audit",
    aliases: ["webhooks"],
    examples: ["webhook add https://hooks.example.com/gateway", "webhook list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [webhook]
