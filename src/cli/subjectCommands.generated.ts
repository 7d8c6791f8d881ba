/** The commands of the subjects. What they do is loaded when they are run. Written by `bin/subjects.mjs`: do not edit. */
import type { TreeNode } from "./tree/Tree.ts"
import { commands as a2a } from "../subjects/a2a/commands/tree.ts"
import { commands as attention } from "../subjects/attention/commands/tree.ts"
import { commands as audit } from "../subjects/audit/commands/tree.ts"
import { commands as auth } from "../subjects/auth/commands/tree.ts"
import { commands as backups } from "../subjects/backups/commands/tree.ts"
import { commands as capture } from "../subjects/capture/commands/tree.ts"
import { commands as cluster } from "../subjects/cluster/commands/tree.ts"
import { commands as combos } from "../subjects/combos/commands/tree.ts"
import { commands as compression } from "../subjects/compression/commands/tree.ts"
import { commands as configuration } from "../subjects/configuration/commands/tree.ts"
import { commands as connections } from "../subjects/connections/commands/tree.ts"
import { commands as evals } from "../subjects/evals/commands/tree.ts"
import { commands as guardrails } from "../subjects/guardrails/commands/tree.ts"
import { commands as inspector } from "../subjects/inspector/commands/tree.ts"
import { commands as issuers } from "../subjects/issuers/commands/tree.ts"
import { commands as keys } from "../subjects/keys/commands/tree.ts"
import { commands as limits } from "../subjects/limits/commands/tree.ts"
import { commands as live } from "../subjects/live/commands/tree.ts"
import { commands as mcp } from "../subjects/mcp/commands/tree.ts"
import { commands as memory } from "../subjects/memory/commands/tree.ts"
import { commands as models } from "../subjects/models/commands/tree.ts"
import { commands as playground } from "../subjects/playground/commands/tree.ts"
import { commands as plugins } from "../subjects/plugins/commands/tree.ts"
import { commands as proxies } from "../subjects/proxies/commands/tree.ts"
import { commands as quotaGroups } from "../subjects/quotaGroups/commands/tree.ts"
import { commands as resilience } from "../subjects/resilience/commands/tree.ts"
import { commands as routing } from "../subjects/routing/commands/tree.ts"
import { commands as settings } from "../subjects/settings/commands/tree.ts"
import { commands as skills } from "../subjects/skills/commands/tree.ts"
import { commands as teams } from "../subjects/teams/commands/tree.ts"
import { commands as tools } from "../subjects/tools/commands/tree.ts"
import { commands as tunnels } from "../subjects/tunnels/commands/tree.ts"
import { commands as usage } from "../subjects/usage/commands/tree.ts"
import { commands as users } from "../subjects/users/commands/tree.ts"
import { commands as webhooks } from "../subjects/webhooks/commands/tree.ts"

export const subjectCommands: ReadonlyArray<ReadonlyArray<TreeNode>> = [
  a2a,
  attention,
  audit,
  auth,
  backups,
  capture,
  cluster,
  combos,
  compression,
  configuration,
  connections,
  evals,
  guardrails,
  inspector,
  issuers,
  keys,
  limits,
  live,
  mcp,
  memory,
  models,
  playground,
  plugins,
  proxies,
  quotaGroups,
  resilience,
  routing,
  settings,
  skills,
  teams,
  tools,
  tunnels,
  usage,
  users,
  webhooks
]
