/** Hosts that run open models. */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { chatIn } from "./build.ts"

const chat = chatIn("inference")

export const inference: ReadonlyArray<ProviderSpec> = [
  chat("groq", "Groq", "https://api.groq.com/openai/v1", {
    // https://console.groq.com/docs/batch
    batches: "openai",
    env: ["GROQ_API_KEY"],
    models: ["llama-3.3-70b-versatile", "openai/gpt-oss-120b", "llama-3.1-8b-instant"],
    docsUrl: "https://console.groq.com/docs"
  }),
  chat("cerebras", "Cerebras", "https://api.cerebras.ai/v1", { env: ["CEREBRAS_API_KEY"], models: ["gpt-oss-120b"] }),
  chat("together", "Together AI", "https://api.together.xyz/v1", {
    aliases: ["together-ai"],
    env: ["TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"],
    models: ["meta-llama/Llama-3.3-70B-Instruct-Turbo"],
    docsUrl: "https://docs.together.ai",
    media: { images: { adapter: "together", baseUrl: null, path: "/images/generations" } }
  }),
  chat("fireworks", "Fireworks AI", "https://api.fireworks.ai/inference/v1", {
    aliases: ["fireworks-ai"],
    modelsPath: "https://api.fireworks.ai/v1/accounts/fireworks/models?filter=supports_serverless",
    env: ["FIREWORKS_API_KEY"],
    models: ["accounts/fireworks/models/gpt-oss-120b"],
    docsUrl: "https://docs.fireworks.ai",
    media: {
      images: {
        adapter: "fireworksImages",
        baseUrl: null,
        path: "/workflows/accounts/{account}/models/{name}/text_to_image"
      }
    }
  }),
  chat("sambanova", "SambaNova", "https://api.sambanova.ai/v1", { env: ["SAMBANOVA_API_KEY"] }),
  chat("nvidia", "NVIDIA NIM", "https://integrate.api.nvidia.com/v1", {
    aliases: ["nim"],
    env: ["NVIDIA_API_KEY", "NVIDIA_NIM_API_KEY"],
    models: ["meta/llama-3.3-70b-instruct"],
    // https://docs.nvidia.com/nim/nemo-retriever/text-reranking/latest/reference.html
    media: { rerank: { adapter: "nvidia", baseUrl: null, path: "/ranking" } }
  }),
  chat("huggingface", "Hugging Face", "https://router.huggingface.co/v1", {
    aliases: ["hf"],
    env: ["HF_TOKEN", "HUGGINGFACE_API_KEY"],
    models: ["openai/gpt-oss-120b"],
    docsUrl: "https://huggingface.co/docs/inference-providers"
  }),
  chat("deepinfra", "DeepInfra", "https://api.deepinfra.com/v1/openai", {
    env: ["DEEPINFRA_API_KEY", "DEEPINFRA_TOKEN"],
    models: ["meta-llama/Llama-3.3-70B-Instruct-Turbo"]
  }),
  chat("hyperbolic", "Hyperbolic", "https://api.hyperbolic.xyz/v1", {
    env: ["HYPERBOLIC_API_KEY"],
    media: { images: { adapter: "hyperbolic", baseUrl: null, path: "/image/generation" } }
  }),
  chat("nebius", "Nebius Token Factory", "https://api.tokenfactory.nebius.com/v1", {
    env: ["NEBIUS_API_KEY"],
    media: { images: { adapter: "nebius", baseUrl: null, path: "/images/generations" } }
  }),
  chat("novita", "Novita AI", "https://api.novita.ai/openai/v1", { env: ["NOVITA_API_KEY"] }),
  chat("baseten", "Baseten", "https://inference.baseten.co/v1", { env: ["BASETEN_API_KEY"] }),
  chat("chutes", "Chutes", "https://api.chutesai.com/v1", { env: ["CHUTES_API_KEY", "CHUTES_API_TOKEN"] }),
  chat("featherless-ai", "Featherless AI", "https://api.featherless.ai/v1", {
    aliases: ["featherless"],
    env: ["FEATHERLESS_API_KEY"]
  }),
  chat("friendliai", "FriendliAI", "https://api.friendli.ai/serverless/v1", {
    aliases: ["friendli"],
    env: ["FRIENDLI_TOKEN"]
  }),
  chat("lambda-ai", "Lambda", "https://api.lambda.ai/v1", { aliases: ["lambda"], env: ["LAMBDA_API_KEY"] }),
  chat("inference-net", "Inference.net", "https://api.inference.net/v1", { env: ["INFERENCE_API_KEY"] }),
  chat("kluster", "kluster.ai", "https://api.kluster.ai/v1", { env: ["KLUSTER_API_KEY"] }),
  chat("nscale", "Nscale", "https://inference.api.nscale.com/v1", {
    env: ["NSCALE_SERVICE_TOKEN", "NSCALE_API_KEY"]
  }),
  chat("wandb", "W&B Inference", "https://api.inference.wandb.ai/v1"),
  chat("ollama-cloud", "Ollama Cloud", "https://ollama.com/v1", {
    modelsPath: "https://ollama.com/api/tags",
    env: ["OLLAMA_API_KEY"],
    models: ["gpt-oss:120b"],
    media: { search: { adapter: "ollama", baseUrl: "https://ollama.com", path: "/api/web_search" } }
  }),
  chat("avian", "Avian", "https://api.avian.io/v1", { env: ["AVIAN_API_KEY"] }),
  chat("parasail", "Parasail", "https://api.parasail.io/v1", { env: ["PARASAIL_API_KEY"] }),
  chat("doubleword", "Doubleword", "https://api.doubleword.ai/v1", { env: ["DOUBLEWORD_API_KEY"] }),
  chat("io-net", "io.net Intelligence", "https://api.intelligence.io.solutions/api/v1", {
    env: ["IOINTELLIGENCE_API_KEY"]
  }),
  chat("targon", "Targon", "https://api.targon.com/v1", { env: ["TARGON_API_KEY"] }),
  chat("atlas-cloud", "Atlas Cloud", "https://api.atlascloud.ai/v1", { env: ["ATLASCLOUD_API_KEY"] }),
  chat("gmi-cloud", "GMI Cloud", "https://api.gmi-serving.com/v1", { env: ["GMI_API_KEY"] }),
  chat("digitalocean", "DigitalOcean Inference", "https://inference.do-ai.run/v1", {
    env: ["DIGITALOCEAN_INFERENCE_KEY"]
  }),
  chat("vultr", "Vultr Inference", "https://api.vultrinference.com/v1", { env: ["VULTR_INFERENCE_API_KEY"] }),
  chat("akash-chat", "AkashChat", "https://chatapi.akash.network/api/v1", { env: ["AKASHCHAT_API_KEY"] }),
  chat("near-ai", "NEAR AI Cloud", "https://cloud-api.near.ai/v1", { env: ["NEARAI_API_KEY"] }),
  chat("tinfoil", "Tinfoil", "https://inference.tinfoil.sh/v1", { env: ["TINFOIL_API_KEY"] }),
  chat("mancer", "Mancer", "https://neuro.mancer.tech/oai/v1", { env: ["MANCER_API_KEY"] }),
  chat("infermatic", "Infermatic", "https://api.totalgpt.ai/v1", { env: ["INFERMATIC_API_KEY"] }),
  chat("arliai", "Arli AI", "https://api.arliai.com/v1", { env: ["ARLIAI_API_KEY"] }),
  // Embeddings and ranking only.
  chat("voyage-ai", "Voyage AI", "https://api.voyageai.com/v1", {
    aliases: ["voyage"],
    modelsPath: null,
    env: ["VOYAGE_API_KEY"],
    models: ["voyage-3.5", "rerank-2.5"],
    docsUrl: "https://docs.voyageai.com",
    media: {
      embeddings: { adapter: "voyage", baseUrl: "https://api.voyageai.com/v1", path: "/embeddings" },
      rerank: { adapter: "voyage", baseUrl: "https://api.voyageai.com/v1", path: "/rerank" }
    }
  }),
  chat("jina-ai", "Jina AI", "https://api.jina.ai/v1", {
    aliases: ["jina"],
    modelsPath: null,
    env: ["JINA_API_KEY"],
    models: ["jina-embeddings-v4", "jina-reranker-v3"],
    docsUrl: "https://jina.ai",
    media: {
      embeddings: { adapter: "jina", baseUrl: "https://api.jina.ai/v1", path: "/embeddings" },
      rerank: { adapter: "jina", baseUrl: "https://api.jina.ai/v1", path: "/rerank" }
    }
  }),
  // Speech and transcription only.
  chat("elevenlabs", "ElevenLabs", "https://api.elevenlabs.io/v1", {
    auth: { type: "apikey", header: "xi-api-key", prefix: "" },
    modelsPath: null,
    env: ["ELEVENLABS_API_KEY"],
    models: ["eleven_multilingual_v2", "eleven_flash_v2_5", "scribe_v1"],
    docsUrl: "https://elevenlabs.io/docs",
    media: {
      speech: { adapter: "elevenlabs", baseUrl: "https://api.elevenlabs.io/v1", path: "/text-to-speech/{voice}" },
      transcriptions: { adapter: "elevenlabs", baseUrl: "https://api.elevenlabs.io/v1", path: "/speech-to-text" }
    }
  }),
  chat("deepgram", "Deepgram", "https://api.deepgram.com/v1", {
    auth: { type: "apikey", header: "authorization", prefix: "Token " },
    modelsPath: null,
    env: ["DEEPGRAM_API_KEY"],
    models: ["aura-2-thalia-en", "nova-3"],
    docsUrl: "https://developers.deepgram.com",
    media: {
      speech: { adapter: "deepgram", baseUrl: "https://api.deepgram.com/v1", path: "/speak?model={model}" },
      transcriptions: { adapter: "deepgram", baseUrl: "https://api.deepgram.com/v1", path: "/listen" }
    }
  }),
  // Transcription only.
  chat("assemblyai", "AssemblyAI", "https://api.assemblyai.com/v2", {
    auth: { type: "apikey", header: "authorization", prefix: "" },
    modelsPath: null,
    env: ["ASSEMBLYAI_API_KEY"],
    models: ["universal-3-pro", "universal-2"],
    docsUrl: "https://www.assemblyai.com/docs",
    media: {
      transcriptions: { adapter: "assemblyai", baseUrl: "https://api.assemblyai.com/v2", path: "/upload" }
    }
  })
]
