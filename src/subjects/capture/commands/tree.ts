/** The commands about capturing traffic of this machine. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const hosts = group(
  "hosts",
  "Hosts whose traffic the hosts file sends to the gateway.",
  [
    command(
      "list",
      "List the custom hosts.",
      () => import("./hosts.ts"),
      (m) => m.hostsList,
      {
        ...list,
        examples: ["capture hosts list"]
      }
    ),
    command(
      "add",
      "Capture a host.",
      () => import("./hosts.ts"),
      (m) => m.hostsAdd,
      {
        ...add,
        aliases: add.aliases,
        examples: ["capture hosts add api.example.com", "capture hosts add api.example.com --kind llm"]
      }
    ),
    command(
      "remove",
      "Stop capturing a host.",
      () => import("./hosts.ts"),
      (m) => m.hostsRemove,
      {
        ...remove,
        examples: ["capture hosts remove api.example.com"]
      }
    )
  ],
  { examples: ["capture hosts list", "capture hosts add api.example.com"] }
)

const cert = group(
  "cert",
  "The certificate that captured programs have to trust.",
  [
    command(
      "show",
      "Print the certificate.",
      () => import("./bridge.ts"),
      (m) => m.certShow,
      {
        examples: ["capture cert show > gateway-ca.crt"]
      }
    ),
    command(
      "trust",
      "Put it into the trust store of this system.",
      () => import("./bridge.ts"),
      (m) => m.certTrust,
      {
        examples: ["capture cert trust"]
      }
    ),
    command(
      "untrust",
      "Take it out of the trust store.",
      () => import("./bridge.ts"),
      (m) => m.certUntrust,
      {
        examples: ["capture cert untrust"]
      }
    )
  ],
  { examples: ["capture cert show", "capture cert trust"] }
)

const bridge = group(
  "bridge",
  "Coding agents whose calls are captured, and answered by the gateway.",
  [
    command(
      "status",
      "Show the decrypting server and its certificate.",
      () => import("./bridge.ts"),
      (m) => m.bridgeStatus,
      {
        examples: ["capture bridge status"]
      }
    ),
    command(
      "start",
      "Start the decrypting server.",
      () => import("./bridge.ts"),
      (m) => m.bridgeStart,
      {
        examples: ["capture bridge start"]
      }
    ),
    command(
      "stop",
      "Stop it, and take its names out of the hosts file.",
      () => import("./bridge.ts"),
      (m) => m.bridgeStop,
      {
        examples: ["capture bridge stop"]
      }
    ),
    command(
      "agents",
      "List the agents.",
      () => import("./bridge.ts"),
      (m) => m.bridgeAgents,
      {
        examples: ["capture bridge agents"]
      }
    ),
    command(
      "enable",
      "Send an agent's hosts to the gateway.",
      () => import("./bridge.ts"),
      (m) => m.bridgeEnable,
      {
        examples: ["capture bridge enable claude-code"]
      }
    ),
    command(
      "disable",
      "Let an agent's hosts be where they are.",
      () => import("./bridge.ts"),
      (m) => m.bridgeDisable,
      {
        examples: ["capture bridge disable claude-code"]
      }
    )
  ],
  { examples: ["capture bridge agents", "capture bridge enable claude-code"] }
)

const tproxy = group(
  "tproxy",
  "All HTTPS of this machine, by firewall rules (Linux).",
  [
    command(
      "start",
      "Start the transparent mode.",
      () => import("./tproxy.ts"),
      (m) => m.tproxyStart,
      {
        examples: ["capture tproxy start"]
      }
    ),
    command(
      "stop",
      "Stop it, and take all its changes back.",
      () => import("./tproxy.ts"),
      (m) => m.tproxyStop,
      {
        examples: ["capture tproxy stop"]
      }
    ),
    command(
      "status",
      "Show whether it runs, and what it does not see.",
      () => import("./tproxy.ts"),
      (m) => m.tproxyStatus,
      {
        examples: ["capture tproxy status"]
      }
    )
  ],
  { examples: ["capture tproxy status", "capture tproxy start"] }
)

const capture = group(
  "capture",
  "Capture what programs of this machine send.",
  [
    command(
      "status",
      "Show what captures.",
      () => import("./switches.ts"),
      (m) => m.captureStatus,
      {
        examples: ["capture status", "capture status --json"]
      }
    ),
    command(
      "run",
      "Run a command whose traffic is captured; its exit code is ours.",
      () => import("./run.ts"),
      (m) => m.captureRun,
      {
        prints: false,
        examples: ["capture run -- curl https://api.example.com", "capture run -- claude"]
      }
    ),
    command(
      "proxy",
      "Start or stop the HTTP proxy.",
      () => import("./switches.ts"),
      (m) => m.captureProxy,
      {
        examples: ["capture proxy start", "capture proxy stop"]
      }
    ),
    command(
      "system-proxy",
      "Send the desktop's programs through the HTTP proxy.",
      () => import("./switches.ts"),
      (m) => m.captureSystemProxy,
      {
        examples: ["capture system-proxy apply --minutes 10", "capture system-proxy revert"]
      }
    ),
    command(
      "tls-intercept",
      "Decrypt HTTPS in the HTTP proxy.",
      () => import("./switches.ts"),
      (m) => m.captureTlsIntercept,
      {
        examples: ["capture tls-intercept on"]
      }
    ),
    command(
      "gateway",
      "Record the gateway's own traffic.",
      () => import("./switches.ts"),
      (m) => m.captureGateway,
      {
        examples: ["capture gateway on"]
      }
    ),
    hosts,
    cert,
    bridge,
    tproxy,
    command(
      "restore",
      "Take back what a gateway that ended has changed on this machine.",
      () => import("./restore.ts"),
      (m) => m.captureRestore,
      {
        examples: ["capture restore"]
      }
    )
  ],
  { section: "Use", skill: "cli-setup", besides: true, examples: ["capture status", "capture run -- claude"] }
)

export const commands: ReadonlyArray<TreeNode> = [capture]
