// Runs a seccomp filter on one system call, as the kernel would, without making the call.
// Source: seccomp(2), Documentation/networking/filter.rst of the kernel: the classic instructions.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "libcommon/base/byte_codec.h"

namespace maco::run {

class BpfMachine {
 public:
  explicit BpfMachine(const Bytes& bytes) : program_(bytes.size() / sizeof(sock_filter)) {
    memcpy(program_.data(), bytes.data(), program_.size() * sizeof(sock_filter));
  }

  std::size_t size() const { return program_.size(); }

  // The filter's answer; nothing if the program leaves its bounds or has an unknown instruction.
  std::optional<std::uint32_t> Run(const seccomp_data& data) const {
    State state;
    for (std::size_t at = 0; at < program_.size();) {
      const sock_filter& step = program_[at];
      if (BPF_CLASS(step.code) == BPF_RET) {
        return BPF_RVAL(step.code) == BPF_A ? state.a : step.k;
      }
      std::size_t skip = 0;
      const bool known =
          BPF_CLASS(step.code) == BPF_JMP ? Jump(step, state, skip) : Compute(step, data, state);
      if (!known) {
        return std::nullopt;
      }
      at += 1 + skip;
    }
    return std::nullopt;
  }

 private:
  struct State {
    std::uint32_t a = 0;
    std::uint32_t x = 0;
    std::uint32_t memory[BPF_MEMWORDS] = {};
  };

  static bool Jump(const sock_filter& step, const State& state, std::size_t& skip) {
    const std::uint32_t operand = BPF_SRC(step.code) == BPF_X ? state.x : step.k;
    bool taken = false;
    switch (BPF_OP(step.code)) {
      case BPF_JA:
        skip = step.k;
        return true;
      case BPF_JEQ:
        taken = state.a == operand;
        break;
      case BPF_JGT:
        taken = state.a > operand;
        break;
      case BPF_JGE:
        taken = state.a >= operand;
        break;
      case BPF_JSET:
        taken = (state.a & operand) != 0;
        break;
      default:
        return false;
    }
    skip = taken ? step.jt : step.jf;
    return true;
  }

  static bool Compute(const sock_filter& step, const seccomp_data& data, State& state) {
    switch (step.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (step.k % 4 != 0 || step.k + 4 > sizeof data) {
          return false;
        }
        memcpy(&state.a, reinterpret_cast<const char*>(&data) + step.k, 4);
        return true;
      case BPF_LD | BPF_IMM:
        state.a = step.k;
        return true;
      case BPF_LD | BPF_MEM:
        state.a = step.k < BPF_MEMWORDS ? state.memory[step.k] : 0;
        return step.k < BPF_MEMWORDS;
      case BPF_ST:
        if (step.k < BPF_MEMWORDS) {
          state.memory[step.k] = state.a;
        }
        return step.k < BPF_MEMWORDS;
      case BPF_ALU | BPF_AND | BPF_K:
        state.a &= step.k;
        return true;
      case BPF_MISC | BPF_TAX:
        state.x = state.a;
        return true;
      case BPF_MISC | BPF_TXA:
        state.a = state.x;
        return true;
      default:
        return false;
    }
  }

  std::vector<sock_filter> program_;
};

}  // namespace maco::run
