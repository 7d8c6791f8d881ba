/** Providers of one region, most of them with an endpoint of their own per region. */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { bearer, chatIn, messagesIn } from "./build.ts"

const chat = chatIn("regional")
const messages = messagesIn("regional")

export const regional: ReadonlyArray<ProviderSpec> = [
  // Asia
  chat("moonshot", "Moonshot AI", "https://api.moonshot.ai/v1", {
    aliases: ["kimi", "moonshotai"],
    env: ["MOONSHOT_API_KEY", "KIMI_API_KEY"],
    models: ["kimi-k2.5"],
    docsUrl: "https://platform.moonshot.ai/docs"
  }),
  chat("moonshot-cn", "Moonshot AI (China)", "https://api.moonshot.cn/v1", { models: ["kimi-k2.5"] }),
  chat("glm", "GLM Coding Plan", "https://api.z.ai/api/coding/paas/v4", { models: ["glm-4.7", "glm-4.5-air"] }),
  chat("glm-cn", "GLM Coding Plan (China)", "https://open.bigmodel.cn/api/coding/paas/v4", {
    models: ["glm-4.7", "glm-4.5-air"]
  }),
  messages("zai", "Z.ai", "https://api.z.ai/api/anthropic/v1", {
    aliases: ["z-ai"],
    modelsPath: null,
    env: ["ZAI_API_KEY", "Z_AI_API_KEY"],
    models: ["glm-4.7", "glm-4.5-air"],
    docsUrl: "https://docs.z.ai"
  }),
  chat("zai-paas", "Z.ai (pay as you go)", "https://api.z.ai/api/paas/v4", { models: ["glm-4.7"] }),
  chat("zhipu", "Zhipu AI", "https://open.bigmodel.cn/api/paas/v4", {
    aliases: ["bigmodel", "zhipuai"],
    env: ["ZHIPUAI_API_KEY", "ZHIPU_API_KEY"],
    models: ["glm-4.7"]
  }),
  messages("minimax", "MiniMax", "https://api.minimax.io/anthropic/v1", {
    auth: bearer,
    env: ["MINIMAX_API_KEY"],
    models: ["MiniMax-M2.7", "MiniMax-M2"],
    media: { videos: { adapter: "minimax", baseUrl: "https://api.minimax.io/v1", path: "/video_generation" } }
  }),
  messages("minimax-cn", "MiniMax (China)", "https://api.minimaxi.com/anthropic/v1", {
    auth: bearer,
    models: ["MiniMax-M2.7", "MiniMax-M2"],
    media: { videos: { adapter: "minimax", baseUrl: "https://api.minimaxi.com/v1", path: "/video_generation" } }
  }),
  chat("alibaba", "Alibaba Model Studio", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", {
    aliases: ["dashscope"],
    env: ["DASHSCOPE_API_KEY"],
    models: ["qwen-plus", "qwen-max", "qwen-turbo"]
  }),
  chat("alibaba-cn", "Alibaba Model Studio (China)", "https://dashscope.aliyuncs.com/compatible-mode/v1", {
    aliases: ["dashscope-cn"],
    models: ["qwen-plus", "qwen-max", "qwen-turbo"]
  }),
  chat("volcengine", "Volcengine Ark", "https://ark.cn-beijing.volces.com/api/v3", {
    aliases: ["doubao", "ark"],
    env: ["ARK_API_KEY", "VOLCENGINE_API_KEY"]
  }),
  chat("byteplus", "BytePlus ModelArk", "https://ark.ap-southeast.bytepluses.com/api/v3", {
    env: ["BYTEPLUS_API_KEY"]
  }),
  chat("qianfan", "Baidu Qianfan", "https://qianfan.baidubce.com/v2", {
    aliases: ["baidu"],
    env: ["QIANFAN_API_KEY"]
  }),
  chat("tencent", "Tencent Hunyuan", "https://api.hunyuan.cloud.tencent.com/v1", {
    aliases: ["hunyuan"],
    modelsPath: null,
    env: ["HUNYUAN_API_KEY"],
    models: ["hunyuan-turbos-latest"]
  }),
  chat("siliconflow", "SiliconFlow", "https://api.siliconflow.com/v1", { env: ["SILICONFLOW_API_KEY"] }),
  chat("siliconflow-cn", "SiliconFlow (China)", "https://api.siliconflow.cn/v1"),
  chat("stepfun", "StepFun", "https://api.stepfun.com/v1", { env: ["STEPFUN_API_KEY"], models: ["step-3"] }),
  chat("yi", "01.AI", "https://api.lingyiwanwu.com/v1", {
    aliases: ["lingyiwanwu"],
    env: ["YI_API_KEY"],
    models: ["yi-lightning"]
  }),
  chat("baichuan", "Baichuan", "https://api.baichuan-ai.com/v1", {
    modelsPath: null,
    env: ["BAICHUAN_API_KEY"],
    models: ["Baichuan4-Turbo"]
  }),
  chat("sensenova", "SenseNova", "https://api.sensenova.cn/v1", { modelsPath: null, env: ["SENSENOVA_API_KEY"] }),
  chat("xiaomi-mimo", "Xiaomi MiMo", "https://api.xiaomimimo.com/v1", {
    aliases: ["mimo"],
    modelsPath: null,
    env: ["MIMO_API_KEY"],
    models: ["mimo-v2-flash"]
  }),
  chat("longcat", "LongCat", "https://api.longcat.chat/openai/v1", { env: ["LONGCAT_API_KEY"] }),
  chat("internlm", "InternLM", "https://chat.intern-ai.org.cn/api/v1", { env: ["INTERNLM_API_KEY"] }),
  chat("gitee-ai", "Gitee AI", "https://ai.gitee.com/v1", { env: ["GITEE_AI_API_KEY"] }),
  chat("modelscope", "ModelScope", "https://api-inference.modelscope.cn/v1", { env: ["MODELSCOPE_API_KEY"] }),
  chat("ppio", "PPIO", "https://api.ppinfra.com/v3/openai", { env: ["PPIO_API_KEY"] }),
  chat("ai360", "360 AI", "https://api.360.cn/v1", { env: ["AI360_API_KEY"] }),
  chat("upstage", "Upstage", "https://api.upstage.ai/v1", { env: ["UPSTAGE_API_KEY"], models: ["solar-pro2"] }),
  chat("clova-studio", "CLOVA Studio", "https://clovastudio.stream.ntruss.com/v1/openai", {
    aliases: ["hyperclova"],
    env: ["CLOVASTUDIO_API_KEY"]
  }),
  chat("sarvam", "Sarvam AI", "https://api.sarvam.ai/v1", {
    modelsPath: null,
    env: ["SARVAM_API_KEY"],
    models: ["sarvam-m"]
  }),
  chat("krutrim", "Krutrim", "https://cloud.olakrutrim.com/v1", { env: ["KRUTRIM_CLOUD_API_KEY"] }),
  // Europe
  chat("scaleway", "Scaleway", "https://api.scaleway.ai/v1"),
  chat("ovhcloud", "OVHcloud AI Endpoints", "https://oai.endpoints.kepler.ai.cloud.ovh.net/v1", {
    aliases: ["ovh"],
    env: ["OVH_AI_ENDPOINTS_ACCESS_TOKEN"]
  }),
  chat("ionos", "IONOS AI Model Hub", "https://openai.inference.de-txl.ionos.com/v1"),
  chat("stackit", "STACKIT", "https://api.openai-compat.model-serving.eu01.onstackit.cloud/v1", {
    env: ["STACKIT_MODEL_SERVING_AUTH_TOKEN"]
  }),
  chat("berget", "Berget AI", "https://api.berget.ai/v1", { env: ["BERGET_API_KEY"] }),
  chat("infomaniak", "Infomaniak AI", "https://api.infomaniak.com/2/ai/{productId}/openai/v1", { modelsPath: null }),
  chat("publicai", "Public AI", "https://api.publicai.co/v1", { env: ["PUBLICAI_API_KEY"] }),
  chat("yandex", "Yandex Cloud", "https://llm.api.cloud.yandex.net/v1")
]
