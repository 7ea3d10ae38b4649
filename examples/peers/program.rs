//! A static program without a library: it does nothing, spins for a known time, or leaves the time
//! at which it ran. `peers` compiles it with `rustc`; it is no part of the crate.
//!
//!     program                nothing
//!     program spin NS        spins so many nanoseconds from its first instruction on
//!     program stamp FILE     writes the monotonic clock, 8 bytes, to the start of FILE
#![no_std]
#![no_main]

use core::arch::{asm, global_asm};

#[cfg(target_arch = "x86_64")]
global_asm!(".globl _start", "_start:", "mov rdi, rsp", "and rsp, -16", "call begin");
#[cfg(target_arch = "aarch64")]
global_asm!(".globl _start", "_start:", "mov x0, sp", "bl begin");

#[cfg(target_arch = "x86_64")]
mod number {
    pub const CLOCK: usize = 228;
    pub const EXIT: usize = 231;
    pub const OPEN_AT: usize = 257;
    pub const WRITE_AT: usize = 18;
}
#[cfg(target_arch = "aarch64")]
mod number {
    pub const CLOCK: usize = 113;
    pub const EXIT: usize = 94;
    pub const OPEN_AT: usize = 56;
    pub const WRITE_AT: usize = 68;
}

unsafe fn call(number: usize, a: [usize; 4]) -> usize {
    let result;
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a[0], in("rsi") a[1],
            in("rdx") a[2], in("r10") a[3], lateout("rcx") _, lateout("r11") _);
    }
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!("svc 0", in("x8") number, inlateout("x0") a[0] => result, in("x1") a[1],
            in("x2") a[2], in("x3") a[3]);
    }
    result
}

fn now() -> u64 {
    let mut time = [0_u64; 2];
    unsafe { call(number::CLOCK, [1, time.as_mut_ptr() as usize, 0, 0]) };
    time[0] * 1_000_000_000 + time[1]
}

unsafe fn parse(mut text: *const u8) -> u64 {
    let mut number = 0;
    while unsafe { *text } != 0 {
        number = number * 10 + u64::from(unsafe { *text } - b'0');
        text = unsafe { text.add(1) };
    }
    number
}

#[unsafe(no_mangle)]
unsafe extern "C" fn begin(stack: *const usize) -> ! {
    let (count, words) = unsafe { (*stack, stack.add(1).cast::<*const u8>()) };
    if count > 2 {
        let (what, with) = unsafe { (**words.add(1), *words.add(2)) };
        let what_next = unsafe { *(*words.add(1)).add(1) };
        if what == b's' && what_next == b'p' {
            let end = now() + unsafe { parse(with) };
            while now() < end {}
        } else {
            let time = now();
            unsafe {
                let file = call(number::OPEN_AT, [usize::MAX - 99, with as usize, 0o101, 0o600]);
                call(number::WRITE_AT, [file, &raw const time as usize, 8, 0]);
            }
        }
    }
    unsafe { call(number::EXIT, [0; 4]) };
    loop {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
