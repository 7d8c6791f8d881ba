/** Cloud platforms. `{placeholders}` are parts of the customer's own address: the connection's baseUrl fills them. */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { azureKey, bearer, chatIn, geminiIn, googleTokens } from "./build.ts"

const chat = chatIn("enterprise")
const gemini = geminiIn("enterprise")

export const enterprise: ReadonlyArray<ProviderSpec> = [
  chat("azure-openai", "Azure OpenAI", "https://{resource}.openai.azure.com/openai/v1", {
    aliases: ["azure"],
    auth: azureKey,
    wires: ["chat", "responses"],
    keepsResponses: true,
    openAiTools: true,
    docsUrl: "https://learn.microsoft.com/azure/ai-services/openai"
  }),
  chat("azure-foundry", "Azure AI Foundry", "https://{resource}.services.ai.azure.com/openai/v1", { auth: azureKey }),
  chat("bedrock", "Amazon Bedrock", "https://bedrock-runtime.{region}.amazonaws.com/openai/v1", {
    aliases: ["aws-bedrock"],
    modelsPath: null,
    models: ["openai.gpt-oss-120b-1:0", "openai.gpt-oss-20b-1:0"],
    docsUrl: "https://docs.aws.amazon.com/bedrock"
  }),
  gemini(
    "vertex",
    "Google Vertex AI",
    "https://{location}-aiplatform.googleapis.com/v1/projects/{project}/locations/{location}/publishers/google",
    {
      aliases: ["vertex-ai"],
      auth: bearer,
      oauth: googleTokens,
      modelsPath: null,
      models: ["gemini-2.5-flash", "gemini-2.5-pro"]
    }
  ),
  gemini("vertex-express", "Google Vertex AI (express)", "https://aiplatform.googleapis.com/v1/publishers/google", {
    modelsPath: null,
    models: ["gemini-2.5-flash", "gemini-2.5-pro"]
  }),
  chat("databricks", "Databricks", "https://{workspace}/serving-endpoints", { modelsPath: null }),
  chat("snowflake", "Snowflake Cortex", "https://{account}.snowflakecomputing.com/api/v2/cortex/v1", {
    modelsPath: null
  }),
  chat("cloudflare-ai", "Cloudflare Workers AI", "https://api.cloudflare.com/client/v4/accounts/{accountId}/ai/v1", {
    aliases: ["cf"],
    modelsPath: null,
    models: ["@cf/meta/llama-3.3-70b-instruct-fp8-fast", "@cf/openai/gpt-oss-120b"]
  }),
  chat("heroku", "Heroku Inference", "https://us.inference.heroku.com/v1", {
    modelsPath: null,
    env: ["HEROKU_INFERENCE_KEY"]
  })
]
