from 订单 import 总价

assert 总价([("茶", 25, 2)]) == 50
assert 总价([("茶", 25, 4)]) == 90
assert 总价([("茶壶", 120, 1)]) == 110
assert 总价([]) == 0
