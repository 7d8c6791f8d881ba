/** Model servers on the operator's own machine, at their default ports. */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { local } from "./build.ts"

export const localServers: ReadonlyArray<ProviderSpec> = [
  local("ollama", "Ollama", "http://127.0.0.1:11434", {
    wires: ["ollama", "chat"],
    paths: { chat: "/v1/chat/completions" },
    modelsPath: "/api/tags",
    // Only for connections with a key: it is one of ollama.com, which answers searches.
    media: { search: { adapter: "ollama", baseUrl: "https://ollama.com", path: "/api/web_search" } },
    docsUrl: "https://github.com/ollama/ollama/blob/main/docs/api.md"
  }),
  local("lm-studio", "LM Studio", "http://127.0.0.1:1234/v1", { aliases: ["lmstudio"] }),
  local("vllm", "vLLM", "http://127.0.0.1:8000/v1"),
  local("sglang", "SGLang", "http://127.0.0.1:30000/v1"),
  local("llama-cpp", "llama.cpp", "http://127.0.0.1:8080/v1", { aliases: ["llamacpp"] }),
  local("llamafile", "llamafile", "http://127.0.0.1:8080/v1"),
  local("lemonade", "Lemonade", "http://127.0.0.1:13305/api/v1"),
  local("xinference", "Xinference", "http://127.0.0.1:9997/v1"),
  local("text-generation-webui", "Text generation web UI", "http://127.0.0.1:5000/v1", { aliases: ["oobabooga"] }),
  local("docker-model-runner", "Docker Model Runner", "http://127.0.0.1:12434/engines/v1", { aliases: ["dmr"] }),
  local("triton", "NVIDIA Triton", "http://127.0.0.1:9000/v1"),
  local("localai", "LocalAI", "http://127.0.0.1:8080/v1"),
  local("jan", "Jan", "http://127.0.0.1:1337/v1"),
  local("koboldcpp", "KoboldCpp", "http://127.0.0.1:5001/v1"),
  local("tgi", "Text Generation Inference", "http://127.0.0.1:8080/v1"),
  local("tabbyapi", "TabbyAPI", "http://127.0.0.1:5000/v1"),
  local("gpt4all", "GPT4All", "http://127.0.0.1:4891/v1"),
  local("mlx-lm", "MLX LM", "http://127.0.0.1:8080/v1"),
  local("aphrodite", "Aphrodite Engine", "http://127.0.0.1:2242/v1"),
  local("lmdeploy", "LMDeploy", "http://127.0.0.1:23333/v1"),
  local("ramalama", "RamaLama", "http://127.0.0.1:8080/v1"),
  local("mlc-llm", "MLC LLM", "http://127.0.0.1:8000/v1"),
  local("openllm", "OpenLLM", "http://127.0.0.1:3000/v1"),
  local("litellm", "LiteLLM proxy", "http://127.0.0.1:4000/v1")
]
