//! Logs of a server's start; the lines are as vLLM writes them, the values made up.

use import::{Observed, engine_log, observe};

const LATE: &str = "\
(APIServer pid=1) INFO 06-10 20:35:00 [utils.py:344]   █▄█▀ █  version 0.22.1
(APIServer pid=1) INFO 06-10 20:35:00 [utils.py:278] non-default args: {'model_tag': '/m', 'model': 'org/m-8b', 'max_model_len': 8192, 'tensor_parallel_size': 2, 'gpu_memory_utilization': 0.92, 'enable_prefix_caching': False, 'max_num_seqs': 64}
(APIServer pid=1) INFO 06-10 20:35:35 [scheduler.py:239] Chunked prefill is enabled with max_num_batched_tokens=4096.
(APIServer pid=1) INFO 06-10 20:35:35 [vllm.py:977] Asynchronous scheduling is enabled.
(EngineCore pid=2) INFO 06-10 20:36:05 [core.py:112] Initializing a V1 LLM engine (v0.22.1) with config: model='org/m-8b', speculative_config=None, max_seq_len=8192, tensor_parallel_size=2, quantization=mxfp4, kv_cache_dtype=fp8,
(Worker_TP0 pid=3) INFO 06-10 20:37:24 [gpu_model_runner.py:5132] Model loading took 34.38 GiB memory and 45.5 seconds
(Worker_TP1 pid=4) INFO 06-10 20:37:25 [gpu_model_runner.py:5132] Model loading took 34.40 GiB memory and 46.5 seconds
(Worker_TP0 pid=3) INFO 06-10 20:38:37 [gpu_worker.py:466] Available KV cache memory: 88.77 GiB
(Worker_TP1 pid=4) INFO 06-10 20:38:37 [gpu_worker.py:466] Available KV cache memory: 88.70 GiB
(EngineCore pid=2) INFO 06-10 20:38:37 [kv_cache_utils.py:1733] GPU KV cache size: 2,560,976 tokens
(EngineCore pid=2) INFO 06-10 20:38:37 [kv_cache_utils.py:1734] Maximum concurrency for 8,192 tokens per request: 312.38x
(Worker_TP0 pid=3) INFO 06-10 20:39:00 [gpu_model_runner.py:6456] Graph capturing finished in 23 secs, took 0.98 GiB
(Worker_TP0 pid=3) INFO 06-10 20:39:00 [gpu_worker.py:619] Free memory on device (138.9/139.81 GiB) on startup. Desired GPU memory utilization is (0.92, 128.62 GiB). Actual usage is 34.41 GiB for weight, 1.96 GiB for peak activation, 2.1 GiB for non-torch memory, and 1.03 GiB for CUDAGraph memory.
(EngineCore pid=2) INFO 06-10 20:39:00 [core.py:302] init engine (profile, create kv cache, warmup model) took 96.45 s (compilation: 35.91 s)
";

#[test]
fn a_start_tells_versions_settings_and_memory() {
    let Observed::Log(log) = observe(Some("s.log"), LATE.as_bytes()).unwrap() else {
        panic!("not a log")
    };
    assert_eq!((log.version.as_deref(), log.model.as_deref()), (Some("0.22.1"), Some("org/m-8b")));
    assert_eq!((log.tp, log.max_model_len, log.max_num_seqs), (Some(2), Some(8192), Some(64)));
    assert_eq!((log.max_num_batched_tokens, log.gpu_memory_utilization), (Some(4096), Some(0.92)));
    assert_eq!((log.prefix_caching, log.asynchronous), (Some(false), Some(true)));
    assert_eq!(
        (log.quantization.as_deref(), log.kv_cache_dtype.as_deref()),
        (Some("mxfp4"), Some("fp8"))
    );
    // Of ranks, the one with the most weights and the least room.
    assert_eq!((log.weights_gib, log.kv_cache_gib), (Some(34.41), Some(88.70)));
    assert_eq!((log.peak_activation_gib, log.non_torch_gib), (Some(1.96), Some(2.1)));
    assert_eq!((log.cuda_graph_gib, log.gpu_memory_gib), (Some(1.03), Some(139.81)));
    assert_eq!((log.kv_cache_tokens, log.max_concurrency), (Some(2_560_976), Some((8192, 312.38))));
    assert_eq!(
        (log.load_s, log.init_s, log.blocks_of(16)),
        (Some(46.5), Some(96.45), Some(160_061))
    );
    assert_eq!(log.failure, None);
}

#[test]
fn older_starts_count_blocks() {
    let text = "INFO 01-02 api_server.py:7] vLLM API server version 0.6.3.post1\n\
                INFO 01-02 model_runner.py:1071] Loading model weights took 14.99 GB\n\
                INFO gpu_worker.py:1] Total non KV cache memory: 16.07GiB; torch peak memory increase: 1.19GiB; non-torch forward increase memory: 0.07GiB; weights memory: 14.99GiB.\n\
                INFO 01-02 gpu_executor.py:122] # GPU blocks: 27,000, # CPU blocks: 2048\n";
    let log = engine_log::read(None, text.as_bytes()).unwrap();
    assert_eq!((log.version.as_deref(), log.num_gpu_blocks), (Some("0.6.3.post1"), Some(27_000)));
    assert_eq!((log.weights_gib, log.peak_activation_gib), (Some(14.99), Some(1.19)));
}

#[test]
fn a_start_that_failed_says_why() {
    let text = "INFO [core.py] Initializing a V1 LLM engine (v0.19.0) with config: model='m'\n\
                ERROR [core.py] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n";
    let log = engine_log::read(None, text.as_bytes()).unwrap();
    let failure = log.failure.unwrap();
    assert!(failure.starts_with("No available memory"), "{failure}");
}

#[test]
fn a_log_without_a_start_says_so() {
    let text = "(EngineCore pid=1) INFO Engine 000: Avg prompt throughput: 0.0 tokens/s\n";
    let error = observe(Some("s.log"), text.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("“s.log” has none of the lines of a vLLM start-up"), "{error}");
}
