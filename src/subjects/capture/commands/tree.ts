/** The commands about capturing traffic of this machine. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromHosts = from(() => import("./hosts.ts"))
const fromBridge = from(() => import("./bridge.ts"))
const fromTproxy = from(() => import("./tproxy.ts"))
const fromSwitches = from(() => import("./switches.ts"))
const fromRun = from(() => import("./run.ts"))
const fromRestore = from(() => import("./restore.ts"))

const hosts = group(
  "hosts",
  "Hosts whose traffic the hosts file sends to the gateway.",
  [
    fromHosts("list", "hostsList", "List the custom hosts.", {
      ...list,
      examples: ["capture hosts list"]
    }),
    fromHosts("add", "hostsAdd", "Capture a host.", {
      ...add,
      aliases: add.aliases,
      examples: ["capture hosts add api.example.com", "capture hosts add api.example.com --kind llm"]
    }),
    fromHosts("remove", "hostsRemove", "Stop capturing a host.", {
      ...remove,
      examples: ["capture hosts remove api.example.com"]
    })
  ],
  { examples: ["capture hosts list", "capture hosts add api.example.com"] }
)

const cert = group(
  "cert",
  "The certificate that captured programs have to trust.",
  [
    fromBridge("show", "certShow", "Print the certificate.", {
      examples: ["capture cert show > gateway-ca.crt"]
    }),
    fromBridge("trust", "certTrust", "Put it into the trust store of this system.", {
      examples: ["capture cert trust"]
    }),
    fromBridge("untrust", "certUntrust", "Take it out of the trust store.", {
      examples: ["capture cert untrust"]
    })
  ],
  { examples: ["capture cert show", "capture cert trust"] }
)

const bridge = group(
  "bridge",
  "Coding agents whose calls are captured, and answered by the gateway.",
  [
    fromBridge("status", "bridgeStatus", "Show the decrypting server and its certificate.", {
      examples: ["capture bridge status"]
    }),
    fromBridge("start", "bridgeStart", "Start the decrypting server.", {
      examples: ["capture bridge start"]
    }),
    fromBridge("stop", "bridgeStop", "Stop it, and take its names out of the hosts file.", {
      examples: ["capture bridge stop"]
    }),
    fromBridge("agents", "bridgeAgents", "List the agents.", {
      examples: ["capture bridge agents"]
    }),
    fromBridge("enable", "bridgeEnable", "Send an agent's hosts to the gateway.", {
      examples: ["capture bridge enable claude-code"]
    }),
    fromBridge("disable", "bridgeDisable", "Let an agent's hosts be where they are.", {
      examples: ["capture bridge disable claude-code"]
    })
  ],
  { examples: ["capture bridge agents", "capture bridge enable claude-code"] }
)

const tproxy = group(
  "tproxy",
  "All HTTPS of this machine, by firewall rules (Linux).",
  [
    fromTproxy("start", "tproxyStart", "Start the transparent mode.", {
      examples: ["capture tproxy start"]
    }),
    fromTproxy("stop", "tproxyStop", "Stop it, and take all its changes back.", {
      examples: ["capture tproxy stop"]
    }),
    fromTproxy("status", "tproxyStatus", "Show whether it runs, and what it does not see.", {
      examples: ["capture tproxy status"]
    })
  ],
  { examples: ["capture tproxy status", "capture tproxy start"] }
)

const capture = group(
  "capture",
  "Capture what programs of this machine send.",
  [
    fromSwitches("status", "captureStatus", "Show what captures.", {
      examples: ["capture status", "capture status --json"]
    }),
    fromRun("run", "captureRun", "Run a command whose traffic is captured; its exit code is ours.", {
      prints: false,
      examples: ["capture run -- curl https://api.example.com", "capture run -- claude"]
    }),
    fromSwitches("proxy", "captureProxy", "Start or stop the HTTP proxy.", {
      examples: ["capture proxy start", "capture proxy stop"]
    }),
    fromSwitches("system-proxy", "captureSystemProxy", "Send the desktop's programs through the HTTP proxy.", {
      examples: ["capture system-proxy apply --minutes 10", "capture system-proxy revert"]
    }),
    fromSwitches("tls-intercept", "captureTlsIntercept", "Decrypt HTTPS in the HTTP proxy.", {
      examples: ["capture tls-intercept on"]
    }),
    fromSwitches("gateway", "captureGateway", "Record the gateway's own traffic.", {
      examples: ["capture gateway on"]
    }),
    hosts,
    cert,
    bridge,
    tproxy,
    fromRestore("restore", "captureRestore", "Take back what a gateway that ended has changed on this machine.", {
      examples: ["capture restore"]
    })
  ],
  { section: "Use", skill: "cli-setup", besides: true, examples: ["capture status", "capture run -- claude"] }
)

export const commands: ReadonlyArray<TreeNode> = [capture]
