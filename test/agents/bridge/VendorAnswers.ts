/** What the faked vendors answer: so much of each as its program needs to get to work. Asked for a model, they answer with words of their own. */
import { messages } from "../upstream/messages.ts"
import type { VendorAnswer, VendorRequest } from "./Vendors.ts"

/** What a vendor's model says. */
export const vendorsWords = "The vendor itself says this."

const modelsWords = ({ body }: VendorRequest): { readonly type: string; readonly text: string } => {
  const turn = { id: "vendor", reasoning: "", proof: "", text: vendorsWords, call: null }
  const isStream = (JSON.parse(body) as { stream?: boolean }).stream === true
  return isStream
    ? { type: "text/event-stream", text: messages.stream(turn).join("") }
    : { type: "application/json", text: JSON.stringify(messages.whole(turn)) }
}

const json = (value: object): { readonly type: string; readonly text: string } => ({
  type: "application/json",
  text: JSON.stringify(value)
})

const known = (asked: VendorRequest): { readonly type: string; readonly text: string } | null => {
  const [path = ""] = asked.path.split("?")
  switch (`${asked.host}${path}`) {
    case "api.anthropic.com/v1/messages":
      return modelsWords(asked)
    case "oauth2.googleapis.com/tokeninfo":
      return json({
        email: "ann@example.org",
        expires_in: 3000,
        scope: "https://www.googleapis.com/auth/cloud-platform"
      })
    case "www.googleapis.com/oauth2/v2/userinfo":
      return json({ email: "ann@example.org" })
    case "chatgpt.com/backend-api/wham/accounts/check":
      return json({
        accounts: [
          {
            id: "account-faked",
            name: null,
            plan_type: "plus",
            structure: "personal",
            is_deactivated: false,
            can_access_with_session: true,
            is_fedramp_compliant_workspace: false,
            sso_connection_name: null,
            workspace_backend_origin: "https://chatgpt.com",
            account_routing_override: "NO_CONSTRAINT",
            profile_picture_url: null
          }
        ],
        account_ordering: ["account-faked"],
        default_account_id: "account-faked"
      })
    case "cloudcode-pa.googleapis.com/v1internal:loadCodeAssist":
      return json({ currentTier: { id: "standard-tier", name: "Standard" }, cloudaicompanionProject: "project-faked" })
    default:
      return null
  }
}

export const answer: VendorAnswer = (asked, response) => {
  const found = known(asked)
  const error = { type: "error", error: { type: "not_found_error", message: "No such route." } }
  response.writeHead(found === null ? 404 : 200, { "content-type": found?.type ?? "application/json" })
  response.end(found?.text ?? JSON.stringify(error))
}

/** Hosts that the programs ask although the bridge does not have them. */
export const otherHosts = ["oauth2.googleapis.com", "www.googleapis.com"]
